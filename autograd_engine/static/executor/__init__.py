"""Running programs, in the order of the trip: feeds, plan, specializations, bound program, run."""
