"""A plan as a document that people hand over: HTML, PDF or slides, with the evidence inside.

`sources` asks the analyses, `sections/` choose from their answers, `compose` puts a `document` together,
which `html`, `pdf` and `slides` write. `evidence` is what travels inside, `verify` works every figure out
again.
"""
