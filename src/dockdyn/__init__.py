import os; os.environ["JAX_ENABLE_X64"]="1"
