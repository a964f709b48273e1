"""From functions that JAX has traced to machine code, without XLA.

A jaxpr becomes a scalar program (`jaxpr`, with a rule for each primitive in `rules`), that becomes text (`llvm`), that
machine code (`native`), which is kept for the next process (`store`). The physics is written once, in JAX; elementary
functions are written once, as scalar programs (`elementary`). Other texts: C (`c`), WebAssembly (`wasm`).
"""

from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.native import Native, code_of
from dockdyn.translate.scalar_program import Untranslatable

__all__ = ["Native", "Untranslatable", "code_of", "translate_function"]
