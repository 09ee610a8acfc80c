import { isWellFormedXml } from '../base/well-formed.ts';

/** A logo, as the pages show it. */
export interface Logo {
  readonly type: 'image/svg+xml' | 'image/png';
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The largest file of a logo. */
export const LOGO_BYTES_MAX = 32 * 1024;

const PNG_PIXELS_MAX = 2_048;

/**
 * Reads a logo. A problem completes "The logo …". It is served as an image with a policy that runs nothing; an SVG with
 * scripts, or with parts from elsewhere, is refused all the same.
 */
export function readLogo(bytes: Uint8Array): Logo | { readonly problem: string } {
  const own = new Uint8Array(bytes);
  if (own.length > LOGO_BYTES_MAX) return { problem: `is larger than ${LOGO_BYTES_MAX / 1024} KiB` };
  if (isPng(own)) return pngOf(own);
  const text = new TextDecoder().decode(own);
  const root = /^(?:<\?xml[^>]*\?>)?\s*(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<svg(?=[\s/>])([^>]*)>/.exec(text)?.[1];
  if (root === undefined) return { problem: 'is neither SVG nor PNG' };
  const active = ACTIVE.find(([, pattern]) => pattern.test(text));
  if (active) return { problem: `must not contain ${active[0]}` };
  // As an image, a browser shows nothing else.
  if (!/\sxmlns\s*=\s*["']http:\/\/www\.w3\.org\/2000\/svg["']/.test(root))
    return { problem: 'has no xmlns="http://www.w3.org/2000/svg" in its first tag' };
  return isWellFormedXml(text) ? { type: 'image/svg+xml', bytes: own } : { problem: 'is not well-formed XML' };
}

/** Content that a logo does not need and that could attack. */
const ACTIVE: readonly (readonly [string, RegExp])[] = [
  ['a document type or entities', /<!(?:DOCTYPE|ENTITY)/i],
  ['scripts', /<(?:[\w-]+:)?script/i],
  ['foreign objects', /<(?:[\w-]+:)?foreignObject/i],
  ['event handlers', /\son[a-z]+\s*=/i],
  ['links to elsewhere', /(?:href|src)\s*=\s*["']?\s*(?!["'#]|data:image\/)[^\s"'>]/i],
  ['styles from elsewhere', /@import|url\((?!\s*["']?\s*(?:#|data:image\/))/i],
];

function isPng(bytes: Uint8Array): boolean {
  return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a].every((byte, i) => bytes[i] === byte);
}

function pngOf(bytes: Uint8Array<ArrayBuffer>): Logo | { readonly problem: string } {
  if (bytes.length < 33) return { problem: 'is a PNG that breaks off' };
  const view = new DataView(bytes.buffer);
  const isSmall = [16, 20].every((at) => view.getUint32(at) > 0 && view.getUint32(at) <= PNG_PIXELS_MAX);
  return isSmall ? { type: 'image/png', bytes } : { problem: `must be 1 to ${PNG_PIXELS_MAX} pixels wide and high` };
}
