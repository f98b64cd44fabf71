import rose from "rose-web/vite";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [rose()],
  build: { target: "es2022" },
});
