/** Text in 0x-hex, lower case. */
export type Hex = `0x${string}`;

/** Bytes as 0x-hex. */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Base64url without padding (RFC 4648 section 5). */
export function toBase64url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The bytes of base64url, padded or not. Throws for anything else. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}

/** A number, or an address, as an ABI word of 64 digits without 0x. */
export function word(value: bigint | string): string {
  const digits = typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase();
  return digits.padStart(64, '0');
}

/** A number as a JSON-RPC quantity. */
export function quantity(value: bigint): Hex {
  return `0x${value.toString(16)}`;
}
