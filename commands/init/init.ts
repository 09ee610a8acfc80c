import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { FIRST_TOPICS } from '../../lib/config/first-settings.ts';
import { maskSetting } from '../../lib/config/setting.ts';
import { SETTINGS, type SettingName } from '../../lib/config/settings.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import type { Command } from '../cli/command.ts';
import { CONFIG, FORCE, HELP, option, SEND_TO, YES } from '../cli/options.ts';
import { print } from '../cli/print.ts';
import { widthOf, wrap } from '../cli/terminal.ts';
import { usageErrorOf } from '../setup/settings.ts';
import { settingsFile } from '../setup/settings-file.ts';
import type { Given } from '../setup/vars.ts';
import { giveToOwnerOf } from '../storage/durable.ts';
import { openDialog, SILENT } from './dialog.ts';
import { announceTopic, configSoFar, confirm, faultsOf, type Interview, isPublic, remark } from './interview.ts';
import { keepFile } from './keep-file.ts';
import { INTERVIEW } from './questions.ts';
import { beginInterview, readStart, sourcesKept } from './start.ts';

/** `vault init`. */
export const initCommand: Command = {
  summary: 'asks for the first settings, writes the settings file, and checks it',
  options: [
    YES,
    {
      ...option('--set <NAME=VALUE>', 'a setting as it stands in the file, or NAME_FILE=path; may be given again'),
      isRepeated: true,
    },
    SEND_TO,
    FORCE,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: ['BASE_URL', 'EMAIL_PROVIDER', 'SMTP_URL', 'RPC_URL', 'BRAND_NAME'],
  examples: [
    'vault init',
    'sudo vault init --config /etc/vault/vault.env',
    'vault init --yes --set BASE_URL=https://vault.example.com --set EMAIL_PROVIDER=none',
  ],
  notes: [
    'The file is that of --config, or vault.env in this directory.',
    'Settings that are given, as flags or in the environment, are not asked for. A file that is there is read first: its settings are offered as answers.',
    'Without a terminal each line of standard input is an answer, and an empty one takes the default. Ctrl+C writes nothing.',
  ],
  exitCodes:
    '0 the file is written, whatever the doctor finds in it, 1 failure, 2 invalid usage or settings, 130 Ctrl+C',
  run: init,
};

/** Asks, writes the file, runs the doctor, and says what to run next. */
async function init(given: Arguments): Promise<number> {
  const { options } = given;
  const path = resolve(options['config'] ?? 'vault.env');
  const isThere = existsSync(path);
  const dialog = options['yes'] === undefined ? openDialog() : SILENT;
  try {
    if (isThere && options['force'] === undefined && !dialog.isTerminal)
      throw new UsageError(`${path} is there: --force replaces it, and keeps it under another name.`);
    const start = readStart(given, isThere ? path : undefined);
    const interview = beginInterview(start, { dialog, testTo: options['send-to'], path });
    dialog.say(introduction(path, isThere));
    if (isThere && options['force'] === undefined && !(await confirm(interview, 'Change it', false))) return 0;
    await askAll(interview);
    check(interview, start);
    const sources = sourcesKept(start, interview.vars);
    for (const [name, text] of interview.files) keepFile(name, text);
    const { aside } = keepFile(path, settingsFile({ vars: interview.vars, sources }));
    dialog.close();
    print(
      `\nWrote ${shown(path)}, for its owner alone${aside === undefined ? '' : `; the one before is ${shown(aside)}`}.`,
    );
    for (const name of interview.files.keys()) {
      giveToOwnerOf(name, path);
      print(`Wrote ${shown(name)}: docs/openid.md says what else an app may have.`);
    }
    await examine(path, options['send-to']);
    print(nextCommand(path, interview));
    return 0;
  } finally {
    dialog.close();
  }
}

function introduction(path: string, isThere: boolean): string {
  const lines = [
    isThere
      ? `${shown(path)} is there: its settings are offered.`
      : `This writes ${shown(path)}, the settings of a vault.`,
    'Enter takes the answer in brackets, - leaves a setting unset. Ctrl+C ends this, and writes nothing.',
  ];
  return lines.flatMap((line) => wrap(line, widthOf(process.stderr))).join('\n');
}

/** Every topic once, and again while the rules between settings refuse the answers. */
async function askAll(interview: Interview): Promise<void> {
  let number = 0;
  for (const { name, isAsked, ask } of INTERVIEW) {
    if (isAsked?.(interview) === false) continue;
    const topic = FIRST_TOPICS[name];
    announceTopic(interview, ++number, topic);
    for (const one of topic.names) sayGiven(interview, one);
    for (;;) {
      await ask(interview);
      const [fault] = faultsOf(interview, topic.names);
      if (fault === undefined || !interview.dialog.isTerminal) break;
      remark(interview, `! ${fault}.`);
    }
  }
}

function sayGiven(interview: Interview, name: SettingName): void {
  const source = interview.given[name];
  if (source !== undefined)
    remark(interview, `${name} is ${maskSetting(SETTINGS[name], interview.vars[name] ?? '')} (${source}).`);
}

/** Throws `UsageError` with all faults: nothing is written then. */
function check(interview: Interview, { sources }: Given): void {
  try {
    configSoFar(interview);
  } catch (error) {
    throw usageErrorOf(error, sources);
  }
}

async function examine(path: string, to: string | undefined): Promise<void> {
  print('Checking it, as vault doctor does …\n');
  const { doctorCommand } = await import('../doctor/doctor.ts');
  const options = { config: path, ...(to === undefined ? {} : { 'send-to': to }) };
  await doctorCommand.run({ command: 'doctor', vars: {}, options }, async () => ({}));
}

function nextCommand(path: string, interview: Interview): string {
  const serve = `vault serve --config ${shown(path)}`;
  if (!path.startsWith('/etc/')) return `\nNext:\n  ${serve}`;
  const proxy = isPublic(interview) ? ' --proxy nginx' : '';
  return `\nNext, as root:\n  vault service install${proxy} --config ${path}`;
}

/** From here, where that is shorter. */
function shown(path: string): string {
  const near = relative('.', path);
  return near.startsWith('..') || near.length >= path.length ? path : near;
}
