import type { StoredPayment } from '../../assets/pay/store.ts';

/** The record of a payment of ether, as /pay keeps it, with these versions. */
export function paymentRecord(more: Pick<StoredPayment, 'state' | 'versions'> & Partial<StoredPayment>): StoredPayment {
  return {
    name: 'order',
    terms: '84532 native 5 0xb0b',
    page: 'https://vault.example/pay/confirm',
    asker: { via: 'opener', origin: 'https://shop.example', frame: undefined },
    account: { credentialId: 'a', address: '0xaa', kind: 2, x: undefined, y: undefined, name: 'A' },
    token: 'native',
    chainId: 84532,
    entryPoint: '0xee',
    nonce: '0x10',
    since: 7,
    endsBy: 0,
    changedAt: 0,
    ...more,
  };
}
