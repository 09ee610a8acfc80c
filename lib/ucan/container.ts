// ucan-wg/container 0.1: several tokens in one text; "C" is base64url without compression.
import { fromBase64, toBase64url } from '../base/bytes.ts';
import { compareBytes, decode } from './decode.ts';
import { encode } from './encode.ts';
import { malformed, UcanError } from './fault.ts';
import { isList, isMap } from './ipld.ts';

/** The longest text that is read. */
export const UCAN_TOKEN_CHARS_MAX = 8 * 1024;

/** Packs tokens into one text, sorted bytewise as the standard requires. */
export function pack(tokens: readonly Uint8Array[]): string {
  return `C${toBase64url(encode({ [VERSION]: [...tokens].sort(compareBytes) }))}`;
}

/**
 * The tokens of a container in any order, since the standard's own vectors are not sorted; or the token of a bare
 * base64url text. Throws `UcanError`.
 */
export function unpack(text: string): readonly Uint8Array<ArrayBuffer>[] {
  if (text.length > UCAN_TOKEN_CHARS_MAX)
    throw new UcanError('large', `longer than ${UCAN_TOKEN_CHARS_MAX} characters`);
  // A token begins with 0x82, which is "g" in base64url, so it is never taken for a container.
  const isContainer = text.startsWith('C');
  const encoded = isContainer ? text.slice(1) : text;
  const bytes = /^[\w-]+$/.test(encoded) ? fromBase64(encoded) : undefined;
  if (!bytes || (!isContainer && bytes[0] !== TOKEN_BEGINS))
    throw malformed('neither a container ("C…") nor a token ("g…") in base64url');
  return isContainer ? tokensOf(bytes) : [bytes];
}

const VERSION = 'ctn-v1';

/** A list of two, in DAG-CBOR: signature and payload. */
const TOKEN_BEGINS = 0x82;

function tokensOf(bytes: Uint8Array): readonly Uint8Array<ArrayBuffer>[] {
  const container = decode(bytes);
  const tokens = isMap(container) && Object.keys(container).length === 1 ? container[VERSION] : undefined;
  if (!isList(tokens)) throw malformed('not a container of version 1');
  return tokens.map((token) => {
    if (!(token instanceof Uint8Array)) throw malformed('a container that holds something else than tokens');
    return new Uint8Array(token);
  });
}
