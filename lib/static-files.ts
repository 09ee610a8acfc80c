import { fromBase64, toBase64url, toHex } from './base/bytes.ts';

/**
 * The source of files that are served as they are, in the shape of a Worker's asset binding: asked with a URL whose
 * path names the file. An answer may carry its `Repr-Digest` (RFC 9530): then the vault does not hash the file itself,
 * and does not even read it where an answer to `HEAD` carries it.
 */
export interface Assets {
  fetch(request: Request): Promise<Response>;
}

/** A file in memory: its bytes, their SHA-256 in hex, a strong entity tag, and the same bytes as gzip (RFC 1952). */
export interface File {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
  readonly etag: string;
  /** Compressed at the first call and kept; calls that come before it is done compress too. */
  gzip(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Reads a file by its path such as `/enclave.wasm`; undefined where there is none. Throws as the assets do. */
export type Files = (path: string) => Promise<File | undefined>;

/**
 * Files never change while a vault runs, so each is read and hashed once. The file itself is kept and never a promise:
 * on Workers one request cannot wait for another's.
 */
export function createFiles(assets: Assets | undefined): Files {
  const known = new Map<string, File>();
  return async (path) => {
    const file = known.get(path) ?? (await readFile(assets, path));
    if (file) known.set(path, file);
    return file;
  };
}

/** The SHA-256 of a file in hex, by its path; undefined where there is no file. Throws as the assets do. */
export type Sha256Of = (path: string) => Promise<string | undefined>;

/** Asks the assets by `HEAD` first: those that say the digest need not read the file for it. */
export function createSha256Of(assets: Assets | undefined, files: Files): Sha256Of {
  const known = new Map<string, string>();
  return async (path) => {
    const sha256 = known.get(path) ?? (await askDigest(assets, path)) ?? (await files(path))?.sha256;
    if (sha256 !== undefined) known.set(path, sha256);
    return sha256;
  };
}

async function askDigest(assets: Assets | undefined, path: string): Promise<string | undefined> {
  const response = await assets?.fetch(new Request(urlOf(path), { method: 'HEAD' })).catch(() => undefined);
  const digest = response?.ok ? readDigest(response) : undefined;
  return digest && toHex(digest);
}

/** The host is never looked up: an asset binding reads the path alone. */
function urlOf(path: string): string {
  return `https://assets.invalid${path}`;
}

/** A file out of bytes that are made here. */
export async function createFile(bytes: Uint8Array<ArrayBuffer>): Promise<File> {
  return withDigest(bytes, new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

async function readFile(assets: Assets | undefined, path: string): Promise<File | undefined> {
  const response = await assets?.fetch(new Request(urlOf(path)));
  if (!response?.ok) return undefined;
  const bytes = new Uint8Array(await response.arrayBuffer());
  // The platform's, where the host gives none: one in JavaScript takes a fresh process some milliseconds.
  const digest = readDigest(response);
  return digest ? withDigest(bytes, digest) : createFile(bytes);
}

function withDigest(bytes: Uint8Array<ArrayBuffer>, digest: Uint8Array): File {
  let compressed: Uint8Array<ArrayBuffer> | undefined;
  return {
    bytes,
    sha256: toHex(digest),
    etag: `"${toBase64url(digest.subarray(0, 16))}"`,
    async gzip() {
      compressed ??= await gzip(bytes);
      return compressed;
    },
  };
}

function readDigest({ headers }: Response): Uint8Array | undefined {
  const text = /^sha-256=:([A-Za-z0-9+/]{43}=):$/.exec(headers.get('repr-digest') ?? '')?.[1];
  return text === undefined ? undefined : fromBase64(text);
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
