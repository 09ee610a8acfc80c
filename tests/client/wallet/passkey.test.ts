import { expect, test } from 'bun:test';
import { createPasskey, PasskeyError } from '../../../client/wallet/passkey.ts';
import { settled } from '../../support/settled.ts';

test('the dialog of a new passkey names the brand, under the RP ID', async () => {
  const asked: PublicKeyCredentialCreationOptions[] = [];
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  const create = async ({ publicKey }: { publicKey: PublicKeyCredentialCreationOptions }) => {
    asked.push(publicKey);
    throw new DOMException('', 'NotAllowedError');
  };
  Object.defineProperty(globalThis, 'navigator', { value: { credentials: { create } }, configurable: true });
  try {
    for (const rpName of ['Tea House', undefined]) {
      const made = createPasskey('vault.example.com', { name: 'Alice', rpName });
      expect(await settled(made)).toThrow(PasskeyError);
    }
  } finally {
    if (before) Object.defineProperty(globalThis, 'navigator', before);
  }
  expect(asked.map(({ rp }) => rp)).toEqual([
    { id: 'vault.example.com', name: 'Tea House' },
    { id: 'vault.example.com', name: 'vault.example.com' },
  ]);
});
