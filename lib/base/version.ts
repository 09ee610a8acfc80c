/** The release, equal to `package.json`'s (a test holds them together). */
export const VERSION = '0.2.0';
