import { callUpstreamWith } from '../base/http-client.ts';
import type { Config } from '../config/config.ts';
import { UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { CLOCKS_APART_MS } from '../db/leases.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';
import type { Examined, Outside } from './host.ts';

/** From when on clock and node are a finding. Codes live 90 seconds, tokens are forgiven 60. */
const CLOCK_SKEW_WARN_MS = 5_000;
export const CLOCK_SKEW_FAIL_MS = 30_000;

/** Compares the clock with the nodes' and the database's, and those of all processes on the database. */
export async function checkClock(outside: Outside, { config, stored }: Examined): Promise<readonly Finding[]> {
  const [node, facts] = await Promise.all([compareWithNodes(outside, config), stored?.().catch(() => undefined)]);
  const findings = [node];
  // An embedded database has this machine's clock.
  if (facts && !/^file:/i.test(config.databaseUrl)) findings.push(judgeClock(facts.aheadMs, 'the database'));
  const offs = facts?.processesAheadMs ?? [];
  if (offs.length > 1) findings.push(judgeProcesses(offs));
  return findings;
}

function judgeProcesses(offs: readonly number[]): Finding {
  const apart = Math.max(...offs) - Math.min(...offs);
  const all = `the clocks of ${offs.length} processes on the database`;
  if (apart < CLOCKS_APART_MS) return ok('clock', `${all} agree`);
  const text = `${all} are ${(apart / 1000).toFixed(0)} s apart: some do no background work`;
  return fail('clock', text, SYNCHRONISE);
}

/** By the time that a node's web server puts on its answer: the first that has one. */
async function compareWithNodes(outside: Outside, config: Config): Promise<Finding> {
  const { rpcUrl, rpcWitnessUrl, bundlerUrl } = config;
  const nodes = { RPC_URL: rpcUrl, RPC_WITNESS_URL: rpcWitnessUrl, BUNDLER_URL: bundlerUrl };
  for (const [setting, url] of Object.entries(nodes)) {
    const aheadMs = url === undefined ? undefined : await askForTime(outside, url);
    if (aheadMs !== undefined) return judgeClock(aheadMs, `the node at ${setting}`);
  }
  return skip('clock', 'no node that is set says the time: nothing to compare with');
}

async function askForTime(outside: Outside, url: string): Promise<number | undefined> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body } as const;
  const asked = outside.clock.now();
  const date = await callUpstreamWith(outside, request, UPSTREAM_TIMEOUT_MS, async ({ headers }) =>
    headers.get('date'),
  ).catch(() => null);
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return undefined;
  return (asked + outside.clock.now()) / 2 - (theirs + HALF_SECOND_MS);
}

/** The header has whole seconds. */
const HALF_SECOND_MS = 500;
const SYNCHRONISE = 'set the clock and keep it synchronised: timedatectl set-ntp true';

/** `aheadMs` is how far this machine's clock is ahead of the other, negative if behind. */
export function judgeClock(aheadMs: number, other = 'the node at RPC_URL'): Finding {
  const off = Math.abs(aheadMs);
  const text = `${(off / 1000).toFixed(0)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other}`;
  if (off >= CLOCK_SKEW_FAIL_MS) return fail('clock', `${text}: codes and tokens expire by this clock`, SYNCHRONISE);
  if (off >= CLOCK_SKEW_WARN_MS) return warn('clock', text, SYNCHRONISE);
  return ok('clock', `agrees with ${other}`);
}
