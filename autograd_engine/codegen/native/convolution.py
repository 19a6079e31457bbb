"""C kernels for the convolution and its two adjoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd_engine.codegen.native import correlation
from autograd_engine.codegen.native.ckernel import CKernel
from autograd_engine.codegen.native.conv_direct import direct
from autograd_engine.codegen.native.conv_columns import columns,filter_columns
from autograd_engine.codegen.native.conv_filter_direct import filter_direct
from autograd_engine.codegen.native import conv_winograd as W
def conv(op_name, operand_specs, result_specs, attrs, workers, method='direct'):
    a, b = operand_specs[:2]
    dt=np.dtype(a.dtype)
    if op_name=='conv': x,w,y=a.shape,b.shape,result_specs[0].shape
    elif op_name=='conv_input': x,w,y=operand_specs[2].shape,b.shape,a.shape
    else: x,w,y=b.shape,operand_specs[2].shape,a.shape
    args=(dt,x,w,y,attrs['stride'],attrs['padding'],attrs['dilation'],attrs['groups'])
    if op_name=='conv_filter' and method=='winograd':
        j=correlation.forward(*args); return W.filter_winograd('k',j,workers,filter_columns('ko',j,workers)) if W.takes(j) else None
    if op_name=='conv_filter' and method=='direct': return filter_direct('k',correlation.forward(*args),workers)
    if op_name=='conv_filter': return filter_columns('k',correlation.forward(*args),workers) if method=='columns' else None
    jobs=[correlation.forward(*args)] if op_name=='conv' else correlation.backward(*args)
    if method=='winograd' and not all(map(W.takes,jobs)): return None
    make={'winograd':lambda n,j,w:W.winograd(n,j,w,columns(n+'o',j,w)),'direct':direct,'columns':columns}[method]
    ks=[make(f'k{i}',j,workers) for i,j in enumerate(jobs)]
    t='float' if dt==np.float32 else 'double'
    z='' if len(ks)==np.prod(attrs['stride']) or op_name=='conv' else f'memset(y,0,{dt.itemsize*int(np.prod(x))});'
    return CKernel('k',''.join(k.source for k in ks)+f"static void k(const {t}*a,const {t}*b,{t}*y,{t}*s){{{z}{''.join(f'{k.name}(a,b,y,s);' for k in ks)}}}",max(k.scratch for k in ks),tuple({h for k in ks for h in k.helpers}))
