// What accounts of both kinds cost in one run: `handleOps` called directly, operations signed by passkeys.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { AbiFunction, Hex } from 'ox';
import { passkeySigner, signDigest, signUntil, vetoDigest } from '../../../scripts/dev-stack/account2.ts';
import { type Chain, type ChainRpc, startChain } from '../../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { mintUsdc, placeUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';
import * as wallet from '../../../scripts/dev-stack/user-operation.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { fundedAccount2, NODES, own, recoveryOf, send, setTime, timeOf } from '../../support/account2.ts';
import { draftOf, handleOps } from '../../support/operations.ts';

const TRANSFER = AbiFunction.from('function transfer(address to, uint256 amount)');
const DELAY = 72 * 3600;
/** The most gas of a transfer and of a creation with one. */
const TRANSFER_MAX = 110_000;
const CREATION_MAX = 230_000;

const gas: Record<string, Record<string, number>> = {};
const nodes: Chain[] = [];
beforeAll(async () => {
  for (const [name, options] of Object.entries(NODES)) {
    const chain = await startChain(options);
    nodes.push(chain);
    await placeUsdc(chain.rpc);
    gas[`first, ${name}`] = await payments(chain.rpc, 1);
    gas[`second, ${name}`] = { ...(await payments(chain.rpc, 2)), ...(await keysAndRecovery(chain.rpc)) };
  }
  console.table(gas);
});
afterAll(() => Promise.all(nodes.map(({ stop }) => stop())));

test('a later transfer costs at most 110,000, creation with a transfer at most 230,000', () => {
  const second = gasOf('second, with the P-256 precompile');
  expect(second('transfer')).toBeLessThanOrEqual(TRANSFER_MAX);
  expect(second('create and transfer')).toBeLessThanOrEqual(CREATION_MAX);
});

function gasOf(row: string): (name: string) => number {
  return (name) => gas[row]?.[name] ?? Number.NaN;
}

/** Payments of a fresh account, to addresses that have ether and tokens already. */
async function payments(rpc: ChainRpc, kind: 1 | 2): Promise<Record<string, number>> {
  const account = kind === 1 ? await firstAccount(rpc) : await fundedAccount2(rpc);
  const [payee, { address: holder }] = [devAccount('alice').address, devAccount('utility')];
  const token = { target: USDC, data: AbiFunction.encodeData(TRANSFER, [holder, 1n]) };
  await mintUsdc(rpc, account.address, 1_000_000n);
  await mintUsdc(rpc, holder, 1n);
  const pay = async (call: wallet.AccountCall) => {
    const draft = await draftOf(rpc, account, [call]);
    const sign = kind === 1 ? wallet.signOperation : signUntil;
    return (await handleOps(rpc, account.entryPoint, await sign(rpc, account, draft))).gasUsed;
  };
  return {
    'create and transfer': await pay({ target: payee, value: 1n }),
    transfer: await pay({ target: payee, value: 1n }),
    'ERC-20 transfer': await pay(token),
  };
}

async function firstAccount(rpc: ChainRpc): Promise<wallet.SmartAccount> {
  const account = await wallet.openAccount(rpc, await deployContracts(rpc), createPasskey());
  await rpc('anvil_setBalance', [account.address, Hex.fromNumber(10n ** 18n)]);
  return account;
}

/** Operations of a second account that the first has none of. */
async function keysAndRecovery(rpc: ChainRpc): Promise<Record<string, number>> {
  const account = await fundedAccount2(rpc);
  const [added, recovered] = [passkeySigner(createPasskey(), 1), passkeySigner(createPasskey(), 2)];
  const { address: guardian } = devAccount('utility');
  const operate = async (call: wallet.AccountCall, signer = passkeySigner(account.passkey)) => {
    const draft = await draftOf(rpc, account, []);
    const operation = await signUntil(rpc, account, { ...draft, callData: call.data ?? '0x' }, signer);
    return (await handleOps(rpc, account.entryPoint, operation)).gasUsed;
  };
  const direct = async (by: 'utility' | 'bob', name: string, ...args: readonly unknown[]) =>
    Number((await send(rpc, by, account, name, ...args)).gasUsed);
  await operate({ target: account.address });
  const [label, commitment] = [Hex.fromString('Phone', { size: 32 }), Hex.random(32)];
  const proposal = [recovered.x, recovered.y, label, commitment];
  const found = {
    'add a key': await operate(own(account, 'addKey', added.x, added.y, label)),
    'by the added key': await operate({ target: account.address }, added),
    'set the guardian': await operate(own(account, 'setGuardian', guardian, DELAY, commitment)),
    propose: await direct('utility', 'proposeRecovery', ...proposal),
  };
  const veto = signDigest(added, vetoDigest(account.address, 84532, await recoveryOf(rpc, account)));
  const vetoed = { veto: await direct('bob', 'vetoRecovery', veto) };
  await direct('utility', 'proposeRecovery', ...proposal);
  await setTime(rpc, (await timeOf(rpc)) + DELAY + 1);
  return { ...found, ...vetoed, finish: await direct('bob', 'finishRecovery') };
}
