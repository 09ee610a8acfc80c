import { expect, test } from 'bun:test';
import { HdKey, Mnemonic } from 'ox';
import { addressOf, devAccount } from '../../../scripts/dev-stack/wallet.ts';

test("the local chain's accounts are the first of the mnemonic that every anvil funds", () => {
  const root = HdKey.fromSeed(Mnemonic.toSeed('test test test test test test test test test test test junk'));
  const roles = ['owner', 'registrar', 'executor', 'utility', 'alice', 'bob', 'sponsor'] as const;
  for (const [index, role] of roles.entries()) {
    const { privateKey } = root.derive(HdKey.path({ index }));
    expect(devAccount(role)).toEqual({ privateKey, address: addressOf(privateKey) });
  }
});
