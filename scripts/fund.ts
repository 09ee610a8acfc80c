// npm run fund 0x…: test money for an account, on the local chain of `npm start` and on no other.
import { isLoopbackHost } from '../lib/config/url-parsers.ts';
import { type ChainRpc, connectChain } from './dev-stack/chain.ts';
import { createFaucet, GIFT } from './dev-stack/faucet.ts';
import { readStack } from './start.ts';

async function main(accounts: readonly string[]): Promise<void> {
  if (accounts.length === 0) throw new Error('say which account:  npm run fund 0x…');
  const { chain } = await readStack();
  const rpc = connectChain(chain);
  await demandLocal(chain, rpc);
  const give = createFaucet(rpc);
  for (const account of accounts) {
    const gift = await give(account);
    if (gift !== 'given') throw new Error(`${account} is not an account: expected 0x and 40 hex digits`);
    console.log(`${account} got ${GIFT.usdc / 1_000_000n} USDC and ${GIFT.wei / 10n ** 18n} ETH of the local chain`);
  }
}

/** The keys that give the money are known to everybody: nothing that they sign goes to a real chain. */
async function demandLocal(url: string, rpc: ChainRpc): Promise<void> {
  const version = await rpc('web3_clientVersion').catch(() => undefined);
  if (version === undefined) throw new Error(`no chain answers at ${url}: is npm start still running?`);
  if (!isLoopbackHost(new URL(url).hostname) || !/^anvil\//i.test(String(version)))
    throw new Error(`the chain at ${url} is not that of npm start: no test money there`);
}

await main(process.argv.slice(2)).catch(({ message }: Error) => {
  console.error(message);
  process.exitCode = 1;
});
