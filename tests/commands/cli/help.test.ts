import { afterAll, expect, test } from 'bun:test';
import { helpText, settingsText } from '../../../commands/cli/help.ts';
import { typeOf } from '../../../commands/cli/setting-types.ts';
import { COMMANDS, loadCommands } from '../../../commands/index.ts';
import { SETTING_NAMES } from '../../../lib/config/config.ts';
import { exampleOf, type Setting } from '../../../lib/config/setting.ts';
import { SETTINGS } from '../../../lib/config/settings.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram, VAULT } from '../../support/run.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const run = (...args: string[]) => runProgram(args, { cwd: folder.path });
const commands = await loadCommands();
const every: [string, string][] = [
  ['all', helpText(commands)],
  ...Object.keys(commands).map((name): [string, string] => [name, helpText(commands, name)]),
  ['settings', settingsText(undefined)],
  ['settings all', settingsText('all')],
];

test('help of a command may be asked for in front and behind', async () => {
  const behind = await run('limits', 'clear', '--help');
  expect(behind).toMatchObject({ code: 0, err: '' });
  expect(behind.out).toStartWith('vault limits clear: resets a limit for a blocked user\n');
  expect(await run('help', 'limits', 'clear')).toEqual(behind);
  expect(await run('help', 'nothing')).toMatchObject({ code: 2, out: '' });
});

test('help of a first word names the commands that begin with it', async () => {
  for (const args of [
    ['limits', '--help'],
    ['limits', '-h'],
    ['help', 'limits'],
  ]) {
    const { code, out } = await run(...args);
    expect(code).toBe(0);
    expect(out).toMatch(/^ {2}limits show +shows .*\n {2}limits clear +resets /);
  }
});

test('every command says what it ends with', async () => {
  for (const name of Object.keys(COMMANDS).slice(0, 6))
    expect((await run('help', ...name.split(' '))).out).toMatch(/^Exit codes: 0 .*, 2\s.*\.$/ms);
});

test.each(every)('the help of %s is at most 80 columns wide where the output is no terminal', (_, text) => {
  // A line with one long word, such as a path, stays whole.
  const wide = text.split('\n').filter((line) => line.length > 80 && /\S\s+\S+\s+\S/.test(line));
  expect(wide.filter((line) => !/^ +(?:vault|example) /.test(line))).toEqual([]);
});

test('the help without a command fits on one screen, with examples and where to read on', async () => {
  const { code, out } = await run('--help');
  expect(code).toBe(0);
  expect(out.split('\n').length).toBeLessThanOrEqual(40);
  for (const word of [...Object.keys(COMMANDS).flatMap((name) => name.split(' ')), 'help settings', '--config'])
    expect(out).toContain(word);
  expect((await run('help')).out).toBe(out);
  expect((await run('-h')).out).toBe(out);
});

test('the help of serve has examples, the most used settings and no others', async () => {
  const { out } = await run('serve', '--help');
  expect(out.split('\n').length).toBeLessThanOrEqual(40);
  for (const words of ['vault serve --config', '--base-url', 'SMTP_URL', '[8787]', 'vault help settings'])
    expect(out).toContain(words);
  expect(out).not.toContain('--database-max-connections');
});

test('the help of another command shows the settings that it reads', async () => {
  const { out } = await run('limits', 'show', '--help');
  expect(out).toContain('--data-dir');
  expect(out).not.toContain('--base-url');
});

test('lines follow COLUMNS, and colour what the environment says', async () => {
  const narrow = await runProgram(['--help'], { cwd: folder.path, vars: { COLUMNS: '60' } });
  expect(Math.max(...narrow.out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);
  expect(narrow.out).not.toContain('\x1b[');
  const colour = await runProgram(['--help'], { cwd: folder.path, vars: { FORCE_COLOR: '1' } });
  expect(colour.out).toContain('\x1b[1mCommands\x1b[22m');
});

test('every setting is explained, with type, default and an example that is accepted', () => {
  for (const name of SETTING_NAMES) {
    const text = settingsText(name);
    expect(text).toStartWith(`${name}\n`);
    expect(text).toMatch(/^ {2}type {5}\S/m);
    expect(text).toMatch(/^ {2}default {2}\S/m);
    const setting = SETTINGS[name] as Setting;
    const example = exampleOf(setting);
    if (example !== undefined) expect(setting.parser(example)).toHaveProperty('value');
    expect(typeOf(setting)).not.toMatch(/^must|undefined/);
  }
});

test('settings are found by name, flag, file and group, and near misses are named', async () => {
  const { out } = await run('help', 'settings', 'smtp_url');
  expect(out).toContain('SMTP_URL_FILE with the path of a file');
  expect(out).not.toContain('the flag');
  expect((await run('help', 'settings', 'SMTP_URL_FILE')).out).toBe(out);
  expect((await run('help', 'settings', '--base-url')).out).toContain('or the flag --base-url.');
  expect((await run('help', 'settings', 'delivery')).out).toContain('one of log, none, smtp');
  expect((await run('help', 'settings', 'kept')).out).toStartWith('What is kept\n');
  expect((await run('help', 'settings', 'start')).out).toStartWith('Start here: vault init asks for these');
  for (const word of ['email', 'mail', 'sms'])
    expect((await run('help', 'settings', word)).out).toStartWith('Delivery of codes\n');
  const ofWord = (await run('help', 'settings', 's3')).out.match(/^\w+$/gm);
  expect(ofWord).toEqual(['BACKUP_S3_ENDPOINT', 'BACKUP_S3_ACCESS_KEY_ID', 'BACKUP_S3_SECRET_ACCESS_KEY']);
  expect(await run('help', 'settings', 'BASEURL')).toMatchObject({
    code: 2,
    err: 'vault: There is no setting or group BASEURL: did you mean BASE_URL? Try vault help settings.\n',
  });
});

test('the settings begin with those of a first day', async () => {
  const { out } = await run('help', 'settings');
  expect(out.indexOf('Start here: vault init asks for these')).toBeLessThan(out.indexOf('\nListening\n'));
  expect(out).toMatch(/^ {2}Passkeys +The domain that passkeys belong to/m);
});

const script = Bun.which('script');
if (!script) console.log('There is no script(1) here: the help is not read on a terminal.');

test.skipIf(!script)('a terminal gets colour, in lines of its width', async () => {
  const line = `stty cols 66; exec ${VAULT.join(' ')} --help`;
  const env = { PATH: process.env['PATH'] ?? '', TERM: 'xterm' };
  const read = (vars: Record<string, string>) =>
    Bun.spawnSync([script ?? '', '-qec', line, '/dev/null'], { cwd: folder.path, env: { ...env, ...vars } });
  const { exitCode, stdout } = read({});
  expect(exitCode).toBe(0);
  expect(stdout.toString()).toContain('\x1b[1mCommands\x1b[22m');
  const lines = read({ NO_COLOR: '1' }).stdout.toString().split('\r\n');
  expect(lines).toContain('Commands');
  expect(Math.max(...lines.map((one) => one.length))).toBeLessThanOrEqual(66);
  expect(Math.max(...lines.map((one) => one.length))).toBeGreaterThan(55);
});
