import * as Value from 'ox/Value';
import { addressWord, findWords } from '../chain/contract-call.ts';
import { readRegistryVersion } from '../chain/registry-version.ts';
import { readEtherBalance } from '../chain/signer-state.ts';
import { RELAY_LOW_BALANCE_TIMES_MIN } from '../constants.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';
import type { ExaminedChain } from './host.ts';

/** Checks that the registrar can pay and may register. */
export async function checkRegistrar(chain: ExaminedChain, address: string): Promise<readonly Finding[]> {
  const { config, rpc } = chain;
  const registry = config.didRegistryAddress;
  const view = { to: registry ?? '', data: `${IS_REGISTRAR}${addressWord(address)}` };
  const [balance, words] = await Promise.all([
    readEtherBalance(chain, address),
    registry === null ? undefined : findWords(rpc, config.chainId, view, 1),
  ]);
  const has = `${address} has ${Value.formatEther(balance)} ether`;
  const least = config.relayMinBalance;
  const funds =
    balance < least
      ? fail('registrar', has, 'send it ether: nothing is relayed below RELAY_MIN_BALANCE')
      : balance < least * BigInt(RELAY_LOW_BALANCE_TIMES_MIN)
        ? warn('registrar', has, 'send it ether soon')
        : ok('registrar', has);
  const edition = registry === null ? [] : [await checkEdition(chain, registry)];
  if (words === undefined) return [funds, ...edition, skip('registrar', 'the registry does not show its registrars')];
  const mayRegister = BigInt(`0x${words[0]}`) === 1n;
  return [
    funds,
    ...edition,
    mayRegister
      ? ok('registrar', 'may register DIDs for others')
      : fail('registrar', 'may not register DIDs', `let the registry's owner call setRegistrar(${address}, true)`),
  ];
}

/** Which edition of the registry the registrar registers in, which decides what a relay brings and costs. */
async function checkEdition(chain: ExaminedChain, registry: string): Promise<Finding> {
  const version = await readRegistryVersion(chain, registry);
  if (version === 2)
    return ok('registrar', "the registry is of the second edition: it asks for each passkey's consent");
  return ok('registrar', 'the registry is of the first edition: names and DIDs can be squatted, see docs/contracts.md');
}

/** Selector of `isRegistrar(address)`. */
const IS_REGISTRAR = '0xd5db72eb';
