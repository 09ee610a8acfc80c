import { afterAll, describe, expect, test } from 'bun:test';
import { AbiFunction, type Hex } from 'ox';
import { didRegistryAbi } from '../../../contracts/abi.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { isRegistered, registerForData, simulate } from '../../../lib/chain/registry.ts';
import { createRpc } from '../../../lib/chain/rpc.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { startTestChain } from '../../support/onchain.ts';
import { accountOf, consentFor, deployBoth, pkhHash, timeNow, ZERO } from '../../support/registries.ts';
import { settled } from '../../support/settled.ts';
import { errorOf, startUpstream } from '../../support/upstream.ts';

const chain = await startTestChain({ edition: 1 });
afterAll(chain.stop);

const outside = { fetch: (url: string, init?: RequestInit) => fetch(url, init), clock: systemClock, log: () => {} };
const access = (url: string) => ({
  config: { chainId: 84532 },
  rpc: createRpc({ ...outside, metrics: createMetrics(), urls: { 84532: url } }),
});
const both = await deployBoth(chain.rpc);
const onChain = access(chain.url);
const { address: registrar, privateKey } = devAccount('registrar');
const registry = chain.registry.toLowerCase();

let hashes = 0;
const fresh = () => ({
  registry,
  controller: `0x${(++hashes).toString(16).padStart(40, '0')}`,
  didHash: `0x${hashes.toString(16).padStart(64, '0')}`,
});
const send = (what: ReturnType<typeof fresh>) =>
  sendTransaction(chain.rpc, privateKey, { to: chain.registry, data: registerForData(what) as Hex.Hex });

test('the call is `registerFor` without alias and metadata', () => {
  const what = fresh();
  const registerFor = AbiFunction.fromAbi(didRegistryAbi, 'registerFor');
  const args = [what.controller as Hex.Hex, what.didHash as Hex.Hex, `0x${'0'.repeat(64)}`, ''] as const;
  expect(registerForData(what)).toBe(AbiFunction.encodeData(registerFor, args));
});

describe('a simulation', () => {
  test('tells what a registration costs, and it costs that', async () => {
    const what = fresh();
    const simulated = await simulate(onChain, registrar, what);
    const gas = 'gas' in simulated ? simulated.gas : 0n;
    const { gasUsed } = await send(what);
    expect(Number(gasUsed) / Number(gas)).toBeCloseTo(1, 1);
  });

  test('tells why the registry would refuse', async () => {
    const what = fresh();
    await send(what);
    const { controller, didHash } = fresh();
    expect(await simulate(onChain, registrar, { ...what, controller })).toEqual({ refusal: 'did_taken' });
    expect(await simulate(onChain, registrar, { ...what, didHash })).toEqual({ refusal: 'controller_taken' });
    expect(await simulate(onChain, devAccount('bob').address, fresh())).toEqual({ refusal: 'not_registrar' });
    expect(await simulate(onChain, registrar, { ...fresh(), didHash: `0x${'0'.repeat(64)}` })).toEqual({
      refusal: 'reverted',
    });
  });

  test('tells why the second registry would refuse a consent', async () => {
    const account = await accountOf(chain.rpc, both.factory1, 1);
    const call = async (change: object, bring: object = {}) => {
      const didHash = pkhHash(account.address);
      const order = { account, registry: both.registry2.address, didHash, expiresAt: await timeNow(chain.rpc) };
      const consent = { ...consentFor({ ...order, ...change }), ...bring };
      const callData = both.registry2.encode('registerFor', account.address, didHash, ZERO, consent);
      return { registry: both.registry2.address, controller: account.address, didHash, callData };
    };
    const refusal = async (...args: Parameters<typeof call>) => simulate(onChain, registrar, await call(...args));
    expect(await refusal({})).toEqual({ gas: expect.any(BigInt) });
    expect(await refusal({ expiresAt: 1n })).toEqual({ refusal: 'consent_expired' });
    expect(await refusal({ expiresAt: (await timeNow(chain.rpc)) * 2n })).toEqual({ refusal: 'consent_expired' });
    expect(await refusal({}, { credentialHash: ZERO })).toEqual({ refusal: 'consent_invalid' });
    expect(await refusal({}, { x: 1n })).toEqual({ refusal: 'not_key_of' });
    expect(await refusal({}, { initCode: '0x' })).toEqual({ refusal: 'not_key_of' });
  });

  test('does not take another failure for a refusal', async () => {
    const node = startUpstream();
    for (const error of [
      { code: -32000, message: 'execution aborted (timeout)' },
      { code: -32005, message: 'limit' },
    ]) {
      node.answer = (call) => errorOf(call, error);
      expect(await settled(simulate(access(node.url), registrar, fresh()))).toThrow(
        expect.objectContaining({ code: 'rpc_error' }),
      );
    }
    await node.stop();
  });
});

test('a DID is registered when the registry has it with this controller', async () => {
  const what = fresh();
  expect(await isRegistered(onChain, what)).toBe(false);
  await send(what);
  expect(await isRegistered(onChain, what)).toBe(true);
  expect(await isRegistered(onChain, { ...what, controller: fresh().controller })).toBe(false);
});
