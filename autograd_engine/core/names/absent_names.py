"""What objects of some classes do not have, and are answered; by tools/names/peers.py."""

from __future__ import annotations

from typing import Final

__all__ = ["ABSENT"]

ABSENT: Final[dict[str, str]] = {
    "paddle.Tensor": """
H absolute absolute_ addbmm addbmm_ addcdiv addcdiv_ addcmul addcmul_ addmv addmv_ addr addr_
adjoint aminmax arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2
arctan2_ arctan_ arctanh arctanh_ as_strided_ as_strided_scatter as_subclass atan2_ bernoulli
block ccol_indices chalf clamp_max clamp_max_ clamp_min clamp_min_ coalesce col_indices
cols conj_physical conj_physical_ const_data_ptr create_parameter create_tensor crow_indices crows
deg2rad_ dequantize det dim_order eq_ erf_ erfc erfc_ exp2 exp2_ expm1_ fix fix_ fliplr flipud
float_power float_power_ fmod fmod_ ge_ geqrf get_map_tensor get_selected_rows get_tensor grad_
grad_dtype greater_ gt_ hardshrink hash_tensor heaviside_ histc igamma igamma_ igammac igammac_
index index_copy index_copy_ index_reduce index_reduce_ indices int_repr ipu is_coalesced is_conj
is_cpu is_distributed is_inference is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_neg
is_nested is_nonzero is_pinned is_quantized is_same_size is_set_to is_shared is_signed is_vulkan
is_xla is_xpu layout le_ logaddexp2 logdet lt_ lu_solve mH map2_ map_ matrix_exp module_load
movedim mtia mvlgamma mvlgamma_ narrow_copy nbytes ne_ negative_ new new_empty_strided new_tensor
nextafter_ nnz nonzero_static num_shard offset orgqr output_nr pin_memory pinverse placements
positive prelu process_mesh put put_ q_per_channel_axis q_per_channel_scales
q_per_channel_zero_points q_scale q_zero_point qscheme rad2deg_ reconstruct_from_ record_stream
reinforce relu_ reshape_as resize resize_as resize_as_ resize_as_sparse_ resolve_conj resolve_neg
retain_grad retains_grad row_indices rows scatter_reduce_ select set_ set_string_list set_tensor
set_vocab sgn_ share_memory_ sign_ slice_inverse smm sparse_mask sparse_resize_
sparse_resize_and_clear_ sspaddmm storage storage_offset storage_type sum_to_size svd swapaxes_
swapdims_ symeig to_dense to_mkldnn to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr
to_sparse_coo to_sparse_csc to_sparse_csr top_p_sampling triangular_solve true_divide_ type
unsafe_chunk unsafe_split unsafe_split_with_sizes untyped_storage values vdot xlogy xlogy_ xpu
""",
    "paddle.static.Executor": """
ctx_caches enable_job_schedule_profiler flush infer_from_dataset micro_scope_cache op_role_key plan
program_caches pruned_program_caches pruned_program_scope_caches scope_caches
split_program_by_device start_heter_trainer train_from_dataset trainer_caches var_caches
""",
    "paddle.static.Program": """
copy_to_block get_all_parameter_values get_output_value_by_name get_parameter_value_by_name
get_value_by_op_id global_seed num_ops parameters_num set_is_test_attr set_parameters_from
""",
}
