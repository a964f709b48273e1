"""From functions that JAX has traced to machine code, without XLA.

A jaxpr becomes a scalar program (`jaxpr`, with a rule for each primitive in `rules`), that becomes text (`llvm`), that
machine code (`native`), which is kept for the next process (`store`). The physics is written once, in JAX; elementary
functions are written once, as scalar programs (`elementary`). Other texts: C (`c`), WebAssembly (`wasm`).
"""
