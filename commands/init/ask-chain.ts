import { checksum } from 'ox/Address';
import { systemClock } from '../../lib/base/clock.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import { readQuantity } from '../../lib/chain/contract-call.ts';
import { createRpc } from '../../lib/chain/rpc.ts';
import { signerAddress } from '../../lib/chain/transaction.ts';
import { effectiveVars, readSetting } from '../../lib/config/config.ts';
import { troubleOf } from '../../lib/doctor/trouble.ts';
import { randomSecret } from '../setup/settings.ts';
import { ask, askSetting, confirm, type Interview, NOT_SHOWN, remark, UNSET } from './interview.ts';

/** The node, which itself says of which chain it is. */
export async function askNode(interview: Interview): Promise<void> {
  const { vars, given, dialog } = interview;
  const before = vars['RPC_URL'];
  for (;;) {
    await askSetting(interview, 'RPC_URL');
    const url = vars['RPC_URL'];
    if (url === undefined) return;
    const found = await chainOf(url).catch((error) => troubleOf(error, 'check the URL').text);
    if (typeof found === 'number') return keepChain(interview, found);
    remark(interview, `! The node does not answer: ${found}.`);
    if (given['RPC_URL'] !== undefined || (await confirm(interview, 'Keep it all the same', !dialog.isTerminal)))
      return;
    if (before === undefined) delete vars['RPC_URL'];
    else vars['RPC_URL'] = before;
  }
}

function keepChain(interview: Interview, found: number): void {
  const { vars, given } = interview;
  const { CHAIN_ID } = effectiveVars(vars);
  const isAnother = `${found}` !== CHAIN_ID;
  if (isAnother && given['CHAIN_ID'] !== undefined) {
    remark(interview, `! The node is of chain ${found}, but CHAIN_ID is ${CHAIN_ID}.`);
    return;
  }
  if (isAnother) vars['CHAIN_ID'] = `${found}`;
  const name = effectiveVars(vars)['CHAIN_NAME'];
  const change = isAnother ? ', so CHAIN_ID is too' : '';
  remark(interview, `✓ The node answers. It is of chain ${found}, ${name}${change}.`);
}

async function chainOf(url: string): Promise<number> {
  const outside = { fetch, clock: systemClock, metrics: createMetrics(), log: () => undefined };
  const rpc = createRpc({ ...outside, urls: { 1: url } });
  return Number(readQuantity(await rpc.call(1, 'eth_chainId', [])));
}

/** The registrar's key: none, a new one, or one that there is. */
export async function askRegistrar(interview: Interview): Promise<void> {
  const { vars, given } = interview;
  if (given['REGISTRAR_PRIVATE_KEY'] !== undefined) return sayAccount(interview);
  const { DID_REGISTRY_ADDRESS, HYPERAUTH_FACTORY_ADDRESS, CHAIN_NAME } = effectiveVars(vars);
  if (DID_REGISTRY_ADDRESS === 'none' || HYPERAUTH_FACTORY_ADDRESS === 'none') {
    delete vars['REGISTRAR_PRIVATE_KEY'];
    return remark(interview, `Not asked: no contracts are known on ${CHAIN_NAME}. ${LATER}`);
  }
  const before = vars['REGISTRAR_PRIVATE_KEY'];
  const words = 'REGISTRAR_PRIVATE_KEY: none, new (one is made), or own (you paste it)';
  const ways = ['none', 'new', 'own', ...(before === undefined ? [] : ['keep'])];
  const judge = (text: string) => (ways.includes(text) || text === UNSET ? undefined : `It is ${ways.join(' or ')}`);
  const way = await ask(interview, { words, fallback: before === undefined ? 'none' : 'keep', judge });
  if (way === 'none' || way === UNSET) delete vars['REGISTRAR_PRIVATE_KEY'];
  if (way === 'new') vars['REGISTRAR_PRIVATE_KEY'] = `0x${randomSecret()}`;
  if (way === 'own')
    vars['REGISTRAR_PRIVATE_KEY'] = await ask(interview, {
      words: `The key${NOT_SHOWN}`,
      isHidden: true,
      judge: faultOfKey,
    });
  sayAccount(interview);
}

const LATER = 'Deploy them by vault contracts deploy, then run vault init again (docs/contracts.md).';

function faultOfKey(text: string): string | undefined {
  const reading = readSetting('REGISTRAR_PRIVATE_KEY', text);
  return 'problem' in reading ? `REGISTRAR_PRIVATE_KEY ${reading.problem}` : undefined;
}

/** Its address is public, and the chain must know it. */
function sayAccount(interview: Interview): void {
  const reading = readSetting('REGISTRAR_PRIVATE_KEY', interview.vars['REGISTRAR_PRIVATE_KEY']);
  if (!('value' in reading) || reading.value === undefined) return;
  const address = checksum(signerAddress(reading.value as `0x${string}`) as `0x${string}`);
  const todo = `send it ether, and let the registry's owner call setRegistrar(${address}, true)`;
  remark(interview, `Its account is ${address}: ${todo}.`);
}
