// Bundled into one module (bundle.mjs): TensorFlow.js with all gradients and the cpu backend.

export * from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-core/dist/register_all_gradients";
import "@tensorflow/tfjs-backend-cpu";
