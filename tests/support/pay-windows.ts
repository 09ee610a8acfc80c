import type { Page } from 'puppeteer-core';
import type { PayWorld, UpstreamCall } from './pay.ts';

/** Operations that the bundler was sent and does not have. */
export interface Kept {
  readonly operations: Readonly<Record<string, string>>[];
  /** Gives them to the bundler after all, and lets everything pass from then on; answers what it says. */
  release(): Promise<object[]>;
}

/** Keeps operations from the bundler, and answers this in its place: that it took them, without more. */
export function keepSent({ upstream }: Pick<PayWorld, 'upstream'>, answer: object = TAKEN): Kept {
  const calls: UpstreamCall[] = [];
  const kept: Kept = {
    operations: [],
    release() {
      upstream.answer = undefined;
      return Promise.all(calls.map(({ pass }) => pass()));
    },
  };
  upstream.answer = async (call) => {
    if (call.method !== 'eth_sendUserOperation') return undefined;
    calls.push(call);
    kept.operations.push(call.params[0] as Readonly<Record<string, string>>);
    return answer;
  };
  return kept;
}

const TAKEN = { result: `0x${'cd'.repeat(32)}` };

/** Moves a page's own clock on. */
export function skip(page: Page, ms: number): Promise<void> {
  return page.evaluate((by) => {
    const now = Date.now;
    Date.now = () => now() + by;
  }, ms);
}
