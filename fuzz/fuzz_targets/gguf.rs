//! Any bytes are a model file or an error; what is accepted can be read to the end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use masklet::ggml::gguf::Gguf;

fuzz_target!(|data: &[u8]| {
    if let Ok(gguf) = Gguf::parse(data.to_vec().into()) {
        for (_, tensor) in gguf.tensors() {
            assert_eq!(tensor.to_f32().len(), tensor.len());
        }
        let _ = gguf.check_finite();
        let _ = masklet::convert::describe_gguf(&gguf).to_string();
    }
});
