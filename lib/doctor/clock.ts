import { callUpstreamWith } from '../base/http-client.ts';
import type { Config } from '../config/config.ts';
import { UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';
import type { Outside } from './host.ts';

/** From when on clock and node are a finding. Codes live 90 seconds, tokens are forgiven 60. */
const CLOCK_SKEW_WARN_MS = 5_000;
export const CLOCK_SKEW_FAIL_MS = 30_000;

/** By the time that the node's web server puts on its answer. */
export async function checkClock(outside: Outside, { rpcUrl: url }: Config): Promise<readonly Finding[]> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body } as const;
  const asked = outside.clock.now();
  const date = await callUpstreamWith(outside, request, UPSTREAM_TIMEOUT_MS, async ({ headers }) =>
    headers.get('date'),
  ).catch(() => null);
  const answered = outside.clock.now();
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return [skip('clock', 'the node at RPC_URL sends no date to compare with')];
  return [judgeClock((asked + answered) / 2 - (theirs + HALF_SECOND_MS))];
}

/** The header has whole seconds. */
const HALF_SECOND_MS = 500;

/** `aheadMs` is how far this machine's clock is ahead of the other, negative if behind. */
export function judgeClock(aheadMs: number): Finding {
  const off = Math.abs(aheadMs);
  const text = `${(off / 1000).toFixed(0)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the node at RPC_URL`;
  const remedy = 'set the clock and keep it synchronised: timedatectl set-ntp true';
  if (off >= CLOCK_SKEW_FAIL_MS) return fail('clock', `${text}: codes and tokens expire by this clock`, remedy);
  if (off >= CLOCK_SKEW_WARN_MS) return warn('clock', text, remedy);
  return ok('clock', 'agrees with the node at RPC_URL');
}
