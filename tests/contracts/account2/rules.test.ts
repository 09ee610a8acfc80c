// What a second account does while it validates, in the node's trace, against the rules of bundlers (ERC-7562).
import { afterAll, describe, expect, test } from 'bun:test';
import { Hex, Secp256k1 } from 'ox';
import { addressSigner, passkeySigner, signUntil } from '../../../scripts/dev-stack/account2.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import type { Operation, SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { createdAccount2, fundedAccount2, own, run, VERSIONS } from '../../support/account2.ts';
import { draftOf } from '../../support/operations.ts';
import { traceOf } from '../../support/validation-rules.ts';

const { rpc, stop } = await startChain();
afterAll(stop);

describe.each(VERSIONS)('validation by EntryPoint %s', (version) => {
  test('of a creation and of operations by each kind of key keeps to ERC-7562', async () => {
    const fresh = await fundedAccount2(rpc, version);
    expect(await traceOf(rpc, fresh, await signed(fresh, passkeySigner(fresh.passkey)))).toMatchObject({ broken: [] });
    const account = await createdAccount2(rpc, version);
    const phone = passkeySigner(createPasskey(), 1);
    const exit = addressSigner(Secp256k1.randomPrivateKey(), 2);
    for (const { x, y } of [phone, exit]) {
      await run(rpc, account, [own(account, 'addKey', x, y, Hex.padRight('0x01', 32))]);
    }
    for (const signer of [passkeySigner(account.passkey), phone, exit]) {
      const { broken, storage } = await traceOf(rpc, account, await signed(account, signer));
      expect(broken).toEqual([]);
      // The proxy's slot, the bits of live keys, and of a stored key x and y.
      expect(storage.size).toBe(signer.index === 0 ? 2 : 4);
    }
  });
});

async function signed(account: SmartAccount, signer: Parameters<typeof signUntil>[3]): Promise<Operation> {
  return signUntil(rpc, account, await draftOf(rpc, account, []), signer);
}
