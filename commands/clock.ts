import { isoTime } from '../lib/base/clock.ts';
import { noteTime } from '../lib/db/clocks.ts';
import { resumeWaits } from '../lib/holders/holders.ts';
import type { Arguments } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, DATABASE_SETTINGS, HELP, JSON_OUTPUT } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { onStore } from './open-store.ts';

/** `vault clock confirm`. */
export const clockConfirmCommand: Command = {
  summary: "confirms this machine's time, so that what lapsed by it is deleted",
  options: [JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault clock confirm --config /etc/vault/vault.env'],
  run: confirmClock,
};

async function confirmClock(given: Arguments): Promise<number> {
  const now = await onStore(given, async ({ clock, db }) => {
    const time = clock.now();
    await db.write(...resumeWaits(time), noteTime(time));
    return time;
  });
  printAnswer(
    given,
    { time: isoTime(now) },
    () => `It is ${isoTime(now)}. The vault goes on deleting what has lapsed.`,
  );
  return 0;
}
