/**
 * The libraries that Bun's executable links statically, with the licences in Bun's own licence file. Bun's packages in
 * the registry name only MIT, and hold no texts.
 */
export const LINKED: readonly (readonly [name: string, license: string, source: string])[] = [
  ['JavaScriptCore and WebKit', 'LGPL-2.0-or-later', 'github.com/oven-sh/webkit'],
  ['BoringSSL', 'OpenSSL AND ISC AND Apache-2.0', 'boringssl.googlesource.com/boringssl'],
  ['brotli', 'MIT', 'github.com/google/brotli'],
  ['c-ares', 'MIT', 'github.com/c-ares/c-ares'],
  ['highway', 'Apache-2.0', 'github.com/google/highway'],
  ['ICU', 'Unicode-3.0', 'github.com/unicode-org/icu'],
  ['libarchive', 'BSD-2-Clause', 'github.com/libarchive/libarchive'],
  ['libbase64', 'BSD-2-Clause', 'github.com/aklomp/base64'],
  ['libdeflate', 'MIT', 'github.com/ebiggers/libdeflate'],
  ['libjpeg-turbo', 'BSD-3-Clause AND IJG AND Zlib', 'github.com/libjpeg-turbo/libjpeg-turbo'],
  ['libspng', 'BSD-2-Clause', 'github.com/randy408/libspng'],
  ['libuv (Windows)', 'MIT', 'github.com/libuv/libuv'],
  ['libwebp', 'BSD-3-Clause', 'github.com/webmproject/libwebp'],
  ['LLVM libc++abi (one function)', 'Apache-2.0 WITH LLVM-exception', 'github.com/llvm/llvm-project'],
  ['lol-html', 'BSD-3-Clause', 'github.com/cloudflare/lol-html'],
  ['ls-hpack', 'MIT', 'github.com/litespeedtech/ls-hpack'],
  ['ls-qpack', 'MIT', 'github.com/litespeedtech/ls-qpack'],
  ['lsquic', 'MIT AND BSD-3-Clause', 'github.com/litespeedtech/lsquic'],
  ['mimalloc', 'MIT', 'github.com/microsoft/mimalloc'],
  ['picohttpparser', 'MIT', 'github.com/h2o/picohttpparser'],
  ['simdutf', 'Apache-2.0', 'github.com/simdutf/simdutf'],
  ['TigerBeetle (parts of its IO)', 'Apache-2.0', 'github.com/tigerbeetle/tigerbeetle'],
  ['TinyCC', 'LGPL-2.1-only', 'github.com/tinycc/tinycc'],
  ['uSockets and uWebSockets', 'Apache-2.0', 'github.com/uNetworking/uSockets'],
  ['uucode', 'MIT', 'github.com/jacobsandlund/uucode'],
  ['zlib-ng', 'Zlib', 'github.com/zlib-ng/zlib-ng'],
  ['Zstandard', 'BSD-3-Clause', 'github.com/facebook/zstd'],
];
