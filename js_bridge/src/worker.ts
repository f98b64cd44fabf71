export const build = __BUILD__;
