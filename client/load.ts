import { toHex } from './bytes.ts';
import { ABI_VERSION, createWindow, type Exports, FUNCTIONS, type Window } from './window.ts';

/** A module that runs: its calls, and the bytes into and out of them. */
export interface Module {
  readonly abi: Exports;
  readonly window: Window;
}

/**
 * Compiles and starts the module. Throws an `Error` for another digest or version, and for a module that imports
 * anything or shows its memory.
 */
export async function loadModule(source: string | URL | Uint8Array, sha256?: string): Promise<Module> {
  return startModule(await compile(source, sha256), FUNCTIONS);
}

/** Starts a compiled module; a page that needs few of its calls relies on the version for the others. */
export async function startModule(
  module: WebAssembly.Module,
  functions: readonly string[] = ['abi_version'],
): Promise<Module> {
  const isClosed = WebAssembly.Module.exports(module).every(({ kind }) => kind === 'function');
  if (WebAssembly.Module.imports(module).length > 0 || !isClosed) throw new Error('this module is not the enclave');
  const { exports } = await WebAssembly.instantiate(module, {});
  const isWhole = functions.every((name) => typeof exports[name] === 'function');
  const abi = exports as unknown as Exports;
  if (!isWhole || abi.abi_version() !== ABI_VERSION)
    throw new Error('this enclave has another version than its client');
  return { abi, window: createWindow(abi) };
}

async function compile(source: string | URL | Uint8Array, sha256: string | undefined): Promise<WebAssembly.Module> {
  if (source instanceof Uint8Array) return WebAssembly.compile(await checked(source, sha256));
  const response = await fetch(source);
  if (!response.ok) throw new Error(`the enclave's address answered ${response.status}`);
  const streams = sha256 === undefined && typeof WebAssembly.compileStreaming === 'function';
  if (streams) return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await checked(new Uint8Array(await response.arrayBuffer()), sha256));
}

/** Not left to `fetch`'s `integrity`, which some runtimes take and ignore. */
async function checked(source: Uint8Array, sha256: string | undefined): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(source);
  if (sha256 === undefined) return bytes;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  if (toHex(digest) !== sha256.toLowerCase()) throw new Error('the enclave has another SHA-256 than it must have');
  return bytes;
}
