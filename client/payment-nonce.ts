import { toHex, utf8 } from './bytes.ts';

/** The name of a payment: the shop's origin, that of the frame in which it asked, if another, and the order's id. */
export interface OrderName {
  readonly origin: string;
  readonly frame?: string | undefined;
  readonly id: string;
}

/** The name of a payment. It is the same by browser, popup and link: one order is paid once over all of them. */
export function paymentName({ origin, frame = origin, id }: OrderName): string {
  return JSON.stringify(['vault/pay/v1', origin, frame, id]);
}

/**
 * The nonce of a payment's user operation, a 0x quantity: number 0 of the order's own sequence. The EntryPoint accepts
 * it once from an account, over all tabs, devices and bundlers. Throws a `TypeError` for an invalid origin.
 */
export async function paymentNonce(order: OrderName): Promise<`0x${string}`> {
  return nonceOf(nameOf(order));
}

/**
 * The nonce of a payment by authorization (EIP-3009), 32 bytes in 0x-hex: the SHA-256 of its name. The token accepts it
 * once from an account. Throws a `TypeError` for an invalid origin.
 */
export async function authorizationNonce(order: OrderName): Promise<`0x${string}`> {
  return `0x${toHex(await sha256(nameOf(order)))}`;
}

/** Whether a text has an origin, in whatever spelling. */
export function isOrigin(text: unknown): text is string {
  return typeof text === 'string' && URL.canParse(text) && new URL(text).origin !== 'null';
}

/** An origin in the spelling of `location.origin`. Throws a `TypeError`. */
export function originOf(text: string): string {
  if (!isOrigin(text)) throw new TypeError(`not an origin: ${text}`);
  return new URL(text).origin;
}

/** The nonce of the operation of this name: the first 24 bytes of its SHA-256 are ERC-4337's key, the sequence is 0. */
export async function nonceOf(name: string): Promise<`0x${string}`> {
  const hash = await sha256(name);
  const key = hash.subarray(0, 24).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return `0x${(key << 64n).toString(16)}`;
}

function nameOf({ origin, frame, id }: OrderName): string {
  return paymentName({ origin: originOf(origin), frame: frame && originOf(frame), id });
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text)));
}
