// Moves an account of the first kind to one of the second: DID and money, in one operation.

import { bytesOf } from '../../client/bytes.ts';
import { type Call, dataOf, type Keccak } from '../../client/wallet/abi.ts';
import { type Account, nameOf } from '../../client/wallet/account.ts';
import { type Hex, toHex, word as uint256 } from '../../client/wallet/bytes.ts';
import { amountText } from '../wallet/amount.ts';
import { predictAddress, readToken } from '../wallet/api.ts';
import { keepAccounts } from '../wallet/memory.ts';
import { spoken, word } from '../words/words.ts';
import { readFacts } from './facts.ts';
import type { Signed } from './home.ts';
import { priceOf } from './operate.ts';
import { perform } from './perform.ts';
import { guard, ProblemError } from './problem.ts';
import { signInto } from './session.ts';
import { loading } from './view.ts';

/** Shows what moves, and moves it. */
export function move(signed: Signed, back: () => void): void {
  guard(() => plan(signed, back), { again: () => move(signed, back) });
}

async function plan(signed: Signed, back: () => void): Promise<void> {
  const { account, contracts, enclave, facts, config } = signed;
  const { x, y } = account;
  const { factory2, registry } = contracts;
  if (x === undefined || y === undefined || factory2 === null) {
    throw new ProblemError('refused', 'The key of this account is not known here: sign out and in again.');
  }
  loading(word('move.loading'));
  const to = await predictAddress({ x, y }, 2);
  await checkPlace(enclave.keccak256, to, { factory2, x, y });
  const [ether, usdc] = await Promise.all([
    readToken('native', account.address),
    config.usdc ? readToken(config.usdc, account.address) : undefined,
  ]);
  const calls: Call[] = [];
  const hasDid = BigInt(facts.did) !== 0n && registry !== null;
  if (hasDid) calls.push(moveDid(enclave.keccak256, { registry, did: facts.did, factory2, x, y }));
  if (usdc && usdc.balance > 0n && config.usdc) {
    const data = dataOf(enclave.keccak256, 'transfer(address,uint256)', [to, usdc.balance]);
    calls.push({ to: config.usdc.toLowerCase() as Hex, value: 0n, data });
  }
  const rest = await spareEther(signed, calls, to, ether.balance, ether.deposit);
  if (rest > 0n) calls.push({ to, value: rest, data: '0x' });
  const moved: Account = { ...account, address: to, kind: 2, name: nameOf(to) };
  if (calls.length === 0) return settleInto(account, moved);
  const things = [
    hasDid ? word('move.did') : '',
    usdc && usdc.balance > 0n ? `${amountText(usdc.balance, usdc.decimals)} ${usdc.symbol}` : '',
    rest > 0n ? `${amountText(rest, 18).slice(0, 10)} ETH` : '',
  ].filter((thing) => thing !== '');
  await keepAccounts([account, moved]);
  perform(
    signed,
    account,
    {
      title: word('move.title'),
      words: word('move.words', { things: new Intl.ListFormat(spoken()).format(things) }),
      button: word('move.go'),
      calls,
      progress: word('move.progress'),
      done: [word('move.done'), word('move.done_words', { address: to })],
      next: `into=${to}`,
      detail: { call: 'executeBatch', to, calls: calls.map((call) => ({ ...call, value: String(call.value) })) },
    },
    back,
  );
}

async function settleInto(account: Account, moved: Account): Promise<void> {
  await keepAccounts([moved, account]);
  await signInto(moved);
  location.hash = '';
}

/** All ether but the fee, where the account pays it. */
async function spareEther(signed: Signed, calls: readonly Call[], to: Hex, balance: bigint, deposit: bigint) {
  if (balance === 0n) return 0n;
  const whole = [...calls, { to, value: 1n, data: '0x' as const }];
  const { fee } = await priceOf(signed, signed.account, whole);
  // The price moves a little until the person has confirmed.
  const reserve = (fee * 3n) / 2n;
  const missing = reserve > deposit ? reserve - deposit : 0n;
  return balance > missing ? balance - missing : 0n;
}

/** Refuses an address that the key does not make, or an account that the key no longer opens. */
async function checkPlace(keccak256: Keccak, to: Hex, made: { factory2: Hex; x: Hex; y: Hex }): Promise<void> {
  const codeHash = toHex(keccak256(bytesOf(initCodeOf(keccak256, made)))).slice(2);
  const preimage = `0xff${made.factory2.slice(2)}${uint256(0n)}${codeHash}`;
  const own = toHex(keccak256(bytesOf(preimage)).subarray(12));
  if (own !== to) throw new ProblemError('refused', 'The vault names an address that is not your new account’s.');
  const { kind, keys } = await readFacts(to);
  const isKey = keys.some((key) => BigInt(key.x) === BigInt(made.x) && BigInt(key.y) === BigInt(made.y));
  if (kind !== null && !isKey) throw new ProblemError('refused', 'This passkey was removed from the new account.');
}

/** The registry takes the DID to the account that the same key and the second factory make. */
function moveDid(
  keccak256: Keccak,
  { registry, did, factory2, x, y }: { registry: Hex; did: Hex; factory2: Hex; x: Hex; y: Hex },
): Call {
  const bytes = initCodeOf(keccak256, { factory2, x, y });
  const args = [did, 0n, factory2, { bytes }] as const;
  return { to: registry, value: 0n, data: dataOf(keccak256, 'moveDid(bytes32,uint256,address,bytes)', args) };
}

/** The creation code of an account of the second kind at salt 0; the registry checks it by its hash. */
export function initCodeOf(keccak256: Keccak, { factory2, x, y }: { factory2: Hex; x: Hex; y: Hex }): Hex {
  // The implementation is what the factory created first: RLP of (factory, 1).
  const implementation = toHex(keccak256(bytesOf(`0xd694${factory2.slice(2)}01`)).subarray(12)).slice(2);
  return `0x${PROXY_HEAD}${implementation}${PROXY_TAIL}${uint256(x)}${uint256(y)}${uint256(0n)}`;
}

const PROXY_HEAD =
  '60bb8060335f3960365160601c7fbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b5f5fa25ff3' +
  '36600557005b365f5f375f5f365f7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc5480604a575073';
const PROXY_TAIL = '5b5af43d5f5f3e6057573d5ffd5b3d5ff3';
