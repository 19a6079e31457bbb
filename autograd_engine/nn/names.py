"""Names that torch has for classes of layers; each is the class itself."""

from autograd_engine.eager.tensor import Parameter
from autograd_engine.nn.layer.base.layer import Layer as Module
from autograd_engine.nn.layer.containers import LayerDict as ModuleDict, LayerList as ModuleList
from autograd_engine.nn.layer.conv import Conv1D as Conv1d, Conv2D as Conv2d, Conv3D as Conv3d
from autograd_engine.nn.layer.padding import (
    CircularPad1D as CircularPad1d,
    CircularPad2D as CircularPad2d,
    CircularPad3D as CircularPad3d,
    ConstantPad1D as ConstantPad1d,
    ConstantPad2D as ConstantPad2d,
    ConstantPad3D as ConstantPad3d,
    ReflectionPad1D as ReflectionPad1d,
    ReflectionPad2D as ReflectionPad2d,
    ReflectionPad3D as ReflectionPad3d,
    ReplicationPad1D as ReplicationPad1d,
    ReplicationPad2D as ReplicationPad2d,
    ReplicationPad3D as ReplicationPad3d,
    ZeroPad1D as ZeroPad1d,
    ZeroPad2D as ZeroPad2d,
    ZeroPad3D as ZeroPad3d,
)
from autograd_engine.nn.layer.pool import (
    AdaptiveAvgPool1D as AdaptiveAvgPool1d,
    AdaptiveAvgPool2D as AdaptiveAvgPool2d,
    AdaptiveAvgPool3D as AdaptiveAvgPool3d,
    AdaptiveMaxPool1D as AdaptiveMaxPool1d,
    AdaptiveMaxPool2D as AdaptiveMaxPool2d,
    AdaptiveMaxPool3D as AdaptiveMaxPool3d,
    LPPool1D as LPPool1d,
    LPPool2D as LPPool2d,
    MaxUnPool1D as MaxUnpool1d,
    MaxUnPool2D as MaxUnpool2d,
    MaxUnPool3D as MaxUnpool3d,
)
from autograd_engine.nn.layer.vision import (
    UpsamplingBilinear2D as UpsamplingBilinear2d,
    UpsamplingNearest2D as UpsamplingNearest2d,
)

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "LPPool1d",
    "LPPool2d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]
