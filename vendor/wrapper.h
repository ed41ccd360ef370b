// What build.rs lets bindgen see of ggml.
#include "ggml.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
