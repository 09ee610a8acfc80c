// The records of earlier versions of the pages, as this version has them.
import type { Hex } from '../../client/wallet/bytes.ts';

/** A payment as versions 1 and 2 stored it. */
interface OldPayment {
  readonly state: string;
  readonly account: { readonly kind?: 1 | 2 };
  readonly operation: { readonly nonce: Hex; readonly signature: Hex };
  readonly userOpHash: Hex;
  readonly [member: string]: unknown;
}

/**
 * A payment of version 3. The older versions believed the bundler: what was sent is not confirmed until the chain shows
 * what became of it.
 */
export function upgradePayment({ operation, userOpHash, endsAt, txHash, ...rest }: OldPayment): object {
  const kind = rest.account.kind ?? 1;
  // Behind the key's index: the last second in which it is valid.
  const end = kind === 2 ? { validUntil: Number.parseInt(operation.signature.slice(4, 16), 16) } : {};
  return {
    ...rest,
    account: { ...rest.account, kind },
    state: rest.state === 'signed' ? 'signed' : 'unconfirmed',
    nonce: operation.nonce,
    endsBy: 0,
    versions: [{ kind: 'pay', operation, userOpHash, ...end }],
  };
}
