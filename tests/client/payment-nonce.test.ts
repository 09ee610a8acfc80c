import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { authorizationNonce, nonceOf, paymentName, paymentNonce } from '../../client/payment-nonce.ts';
import { settled } from '../support/settled.ts';

const ORDER = { origin: 'https://shop.example', id: 'order-1' };

describe('the nonce of a payment', () => {
  test('is the first 24 bytes of the SHA-256 of the JSON that the documents name, times 2 to the 64', async () => {
    const text = '["vault/pay/v1","https://shop.example","https://shop.example","order-1"]';
    const key = createHash('sha256').update(text).digest('hex').slice(0, 48);
    expect(paymentName(ORDER)).toBe(text);
    expect(BigInt(await paymentNonce(ORDER))).toBe(BigInt(`0x${key}`) << 64n);
    expect(await paymentNonce(ORDER)).toMatch(/^0x[1-9a-f][0-9a-f]*$/);
  });

  test('a frame of the same origin is no frame', async () => {
    expect(await paymentNonce({ ...ORDER, frame: ORDER.origin })).toBe(await paymentNonce(ORDER));
    expect(await paymentNonce({ ...ORDER, frame: undefined })).toBe(await paymentNonce(ORDER));
  });

  test('is another for another shop, frame or order', async () => {
    const orders = [
      ORDER,
      { ...ORDER, origin: 'https://other.example' },
      { ...ORDER, frame: 'https://other.example' },
      { ...ORDER, id: 'order-2' },
    ];
    expect(new Set(await Promise.all(orders.map(paymentNonce))).size).toBe(4);
  });

  test('is number 0 of a sequence of its own, the same for the same name', async () => {
    const nonce = BigInt(await nonceOf('a payment'));
    expect(nonce & 0xffff_ffff_ffff_ffffn).toBe(0n);
    expect(nonce >> 64n).toBeLessThan(2n ** 192n);
    expect(BigInt(await nonceOf('a payment'))).toBe(nonce);
    expect(await nonceOf('another payment')).not.toBe(await nonceOf('a payment'));
  });
});

describe('the nonce of a payment by authorization', () => {
  test('is the SHA-256 of the same name, whole', async () => {
    const hash = createHash('sha256').update(paymentName(ORDER)).digest('hex');
    expect(await authorizationNonce(ORDER)).toBe(`0x${hash}`);
    expect(BigInt(await paymentNonce(ORDER)) >> 64n).toBe(BigInt(`0x${hash}`) >> 64n);
  });

  test('is the same however the origin is spelled, and another for another shop, frame or order', async () => {
    const spelled = { origin: 'HTTPS://Shop.example:443/cart', frame: 'https://shop.example/', id: ORDER.id };
    expect(await authorizationNonce(spelled)).toBe(await authorizationNonce(ORDER));
    const others = [{ origin: 'https://other.example' }, { frame: 'https://other.example' }, { id: 'order-2' }];
    const nonces = await Promise.all([{}, ...others].map((other) => authorizationNonce({ ...ORDER, ...other })));
    expect(new Set(nonces).size).toBe(4);
    expect(await settled(authorizationNonce({ ...ORDER, origin: 'shop' }))).toThrow(TypeError);
  });
});
