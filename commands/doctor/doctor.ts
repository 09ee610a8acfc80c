import { isoTime, systemClock } from '../../lib/base/clock.ts';
import { VERSION } from '../../lib/base/version.ts';
import { type Config, ConfigError, describeFault, readConfig } from '../../lib/config/config.ts';
import { examine } from '../../lib/doctor/examine.ts';
import { byArea, type DoctorReport, type Finding, fail, ok, warn } from '../../lib/doctor/finding.ts';
import { parseRecipient } from '../../lib/doctor/send-test.ts';
import type { Identifier } from '../../lib/identity/identifier.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import { createPaint, isColourful } from '../cli/colour.ts';
import type { Command } from '../cli/command.ts';
import { CONFIG, FULL, HELP, JSON_OUTPUT, SEND_TO } from '../cli/options.ts';
import { printAnswer } from '../cli/print.ts';
import { hang, widthOf } from '../cli/terminal.ts';
import { previewSettings } from '../setup/settings.ts';
import { isByPerson } from '../setup/vars.ts';
import { fileChecks } from './files.ts';
import { SIGHT } from './host.ts';
import { sendCheck } from './send.ts';
import { nearMisses, settingWarnings } from './settings.ts';
import { storageChecks } from './storage.ts';
import { storedFacts } from './stored.ts';

/** `vault doctor`. */
export const doctorCommand: Command = {
  summary: 'checks every dependency and prints what to do',
  options: [CONFIG, FULL, SEND_TO, JSON_OUTPUT, HELP],
  usesSettings: true,
  settings: [],
  examples: [
    'vault doctor --config /etc/vault/vault.env',
    'vault doctor --send-to you@example.com --config /etc/vault/vault.env',
  ],
  notes: [
    'It changes nothing, and sends nothing but the message of --send-to. It asks the vault at BASE_URL which client it sees, also with a forged header.',
    'Each finding is marked ✓ works, ! works with a warning, ✗ does not work, or – not checked.',
  ],
  exitCodes: '0 no ✗, 1 at least one ✗, 2 invalid usage',
  run: doctor,
};

/** Checks every dependency without side effects and prints what to do; exit code 1 on a failure. */
async function doctor(given: Arguments): Promise<number> {
  const { findings, config, namesProxies = true } = examineSettings(given);
  const recipient = recipientOf(given);
  const isFull = given.options['full'] !== undefined;
  const stored = config && storedFacts(config);
  const { checkedAt, checks } = config
    ? await examine(
        {
          ...{ config, fetch, clock: systemClock, namesProxies, stored },
          host: { ...SIGHT, checks: [...fileChecks(config), ...storageChecks(config, { isFull }, stored)] },
        },
        recipient ? [await sendCheck(config, recipient)] : [],
      )
    : { checkedAt: isoTime(systemClock.now()), checks: [] };
  const report = { checkedAt, checks: [...byArea(findings), ...checks] };
  const isWell = report.checks.every(({ state }) => state !== 'fail');
  printAnswer(given, { ok: isWell, version: VERSION, ...report }, () => describe(report));
  return isWell ? 0 : 1;
}

/** Throws `UsageError` for a text that is neither an address nor a number. */
function recipientOf({ options }: Arguments): Identifier | undefined {
  const text = options['send-to'];
  if (text === undefined) return undefined;
  try {
    return parseRecipient(text);
  } catch {
    throw new UsageError('--send-to takes an address such as you@example.com, or a number such as +4915112345678');
  }
}

/** Without settings that hold there is nothing else to try. */
function examineSettings(given: Arguments): { findings: Finding[]; config?: Config; namesProxies?: boolean } {
  try {
    const { settings } = previewSettings(given);
    const findings = settings.warnings.map((text) => warn('settings', ...splitRemedy(text)));
    try {
      const config = readConfig(settings.vars);
      return {
        findings: [
          ok('settings', `${countGiven(settings.sources)} given, all valid`),
          ...findings,
          ...settingWarnings({ config, sources: settings.sources }),
        ],
        config,
        namesProxies: settings.sources['TRUSTED_PROXIES'] !== undefined,
      };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const faults = error.faults.map(({ remedy, ...fault }) =>
        fail('settings', describeFault(fault), remedy ?? `see vault help settings ${fault.name}`),
      );
      return { findings: [...faults, ...findings, ...nearMisses()] };
    }
  } catch (error) {
    const texts = (error instanceof Error ? error.message : String(error)).split('\n');
    return { findings: texts.map((text) => fail('settings', text, /EACCES/.test(text) ? AS_WHOM : PUT_RIGHT)) };
  }
}

const PUT_RIGHT = 'correct it where it is set: as a flag, in the environment, or in the file of --config';
const AS_WHOM = "run the command as the vault's user, or let this user read the file";

/** Counts the settings that someone set: no defaults, no generated ones, none of the terminal's. */
function countGiven(sources: Readonly<Record<string, string>>): number {
  return Object.values(sources).filter(isByPerson).length;
}

/** A warning reads "what is: what to do". */
function splitRemedy(warning: string): [text: string, remedy: string] {
  const at = warning.indexOf(': ');
  return at < 0 ? [warning, ''] : [warning.slice(0, at), warning.slice(at + 2)];
}

const MARKS = { ok: '✓', warn: '!', fail: '✗', skipped: '–' };
const STYLES = { ok: 'green', warn: 'yellow', fail: 'red', skipped: 'dim' } as const;

function describe({ checks }: DoctorReport): string {
  const paint = createPaint(isColourful());
  const width = Math.max(...checks.map(({ name }) => name.length));
  // In a pipe each finding stays a line, for those that look for one.
  const columns = process.stdout.isTTY ? widthOf() : Number.POSITIVE_INFINITY;
  const lines = checks.flatMap(({ name, state, text, remedy }) => {
    const found = hang(`${MARKS[state]} ${name.padEnd(width)}  `, text, columns).join('\n');
    const todo = remedy ? [hang(`${' '.repeat(width + 4)}→ `, remedy, columns).join('\n')] : [];
    return [found.replace(MARKS[state], paint[STYLES[state]]), ...todo.map((line) => line.replace('→', paint.cyan))];
  });
  const count = (state: Finding['state']) => checks.filter((check) => check.state === state).length;
  return [...lines, '', `${count('fail')} ✗, ${count('warn')} !, ${count('ok')} ✓`].join('\n');
}
