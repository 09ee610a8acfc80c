// What the review of the chain showed of the second account, each attack as it was made.
import { afterAll, expect, test } from 'bun:test';
import { Hex, Secp256k1 } from 'ox';
import { addressSigner, deployFactory2, passkeySigner } from '../../../scripts/dev-stack/account2.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import {
  createdAccount2,
  errorName,
  eventsOf,
  fundedAccount2,
  own,
  ownData,
  recoveryOf,
  run,
  send,
  signersOf,
} from '../../support/account2.ts';
import { guarded, LABEL, propose, veto } from '../../support/recoveries.ts';

const { rpc, stop } = await startChain();
afterAll(stop);
const NOBODY = Hex.padLeft('0x', 20);

test('the zero address proposes nothing to an account without a guardian (A7)', async () => {
  const account = await createdAccount2(rpc);
  const { x, y } = passkeySigner(createPasskey());
  const data = ownData('proposeRecovery', x, y, LABEL, Hex.padLeft('0x', 32));
  const error = await rpc('eth_call', [{ from: NOBODY, to: account.address, data }, 'latest']).catch(
    ({ cause }) => cause,
  );
  expect(errorName((error as { data?: Hex.Hex }).data)).toBe('NotGuardian');
});

test('a new account says which implementation it runs, as explorers expect of a proxy (ERC-1967)', async () => {
  const account = await fundedAccount2(rpc);
  const { logs } = await run(rpc, account, []);
  const to = await deployFactory2(rpc, account.entryPoint);
  const answer = (await rpc('eth_call', [{ to, data: '0x5c60da1b' }, 'latest'])) as Hex.Hex;
  const [upgraded, ...more] = eventsOf(logs, account);
  expect(upgraded).toMatchObject({ name: 'Upgraded' });
  expect((upgraded as { implementation?: string }).implementation?.toLowerCase()).toBe(Hex.slice(answer, 12));
  expect(more).toEqual([]);
});

test('the key that signed is named with what owners do, with each operation of a bundle, and with a veto', async () => {
  const account = await guarded(rpc);
  const [first, exit] = [passkeySigner(account.passkey), addressSigner(Secp256k1.randomPrivateKey(), 1)];
  const added = await run(rpc, account, [own(account, 'addKey', exit.x, exit.y, LABEL)]);
  const subject = added.events[0]?.userOpHash;
  expect(signersOf(added.logs, account)).toEqual([{ name: 'SignedBy', x: first.x, subject }]);
  const named = await run(rpc, account, [own(account, 'nameKey', 0, LABEL)], { signer: exit });
  expect(signersOf(named.logs, account)).toEqual([
    { name: 'SignedBy', x: exit.x, subject: named.events[0]?.userOpHash },
  ]);
  await propose(rpc, account);
  const vetoed = await send(rpc, 'bob', account, 'vetoRecovery', veto(account, await recoveryOf(rpc, account), exit));
  expect(signersOf(vetoed.logs, account)).toEqual([{ name: 'SignedBy', x: exit.x, subject: expect.any(String) }]);
});
