import { describe, expect, test } from 'bun:test';
import { flagOf, needOption, parseArguments, takeCommand, UsageError } from '../../../commands/cli/arguments.ts';
import {
  CONFIG,
  DRY_RUN,
  FILE,
  HELP,
  JSON_OUTPUT,
  option,
  VERSION_FLAG,
  WITH_SECRETS,
} from '../../../commands/cli/options.ts';
import { SETTING_NAMES } from '../../../lib/config/config.ts';
import { SETTINGS } from '../../../lib/config/settings.ts';

const KIND = option('--kind <kind>', 'the limit');
const COMMANDS = {
  serve: [CONFIG, HELP, VERSION_FLAG],
  config: [CONFIG, JSON_OUTPUT],
  'contracts deploy': [DRY_RUN, option('--owner <address>', 'the owner')],
  backup: [FILE, WITH_SECRETS],
  'limits show': [KIND],
  'limits clear': [KIND],
};

function parse(...argv: string[]) {
  const { command, words } = takeCommand(argv, Object.keys(COMMANDS));
  return parseArguments(command, words, COMMANDS[command as keyof typeof COMMANDS]);
}

describe('a command line', () => {
  test('without a command serves', () => {
    expect(parse()).toEqual({ command: 'serve', vars: {}, options: {} });
    expect(parse('--port', '0').command).toBe('serve');
    expect(parse('config', '--json').command).toBe('config');
  });

  test('may begin with a command of two words', () => {
    expect(parse('contracts', 'deploy', '--dry-run', '--owner', '0x12')).toEqual({
      command: 'contracts deploy',
      vars: {},
      options: { 'dry-run': 'true', owner: '0x12' },
    });
  });

  test('takes a word that is no flag where the command has a place for it, before and behind flags', () => {
    const expected = { command: 'backup', vars: {}, options: { FILE: 'a b=c', 'with-secrets': 'true' } };
    expect(parse('backup', 'a b=c', '--with-secrets')).toEqual(expected);
    expect(parse('backup', '--with-secrets', 'a b=c')).toEqual(expected);
    for (const argv of [
      ['backup', 'one', 'two'],
      ['backup', '--FILE', 'one'],
      ['backup', ''],
      ['config', 'one'],
    ])
      expect(() => parse(...argv)).toThrow(UsageError);
    expect(() => needOption(parse('backup'), 'FILE')).toThrow('vault backup needs FILE.');
    expect(() => needOption(parse('contracts', 'deploy'), 'owner')).toThrow('vault contracts deploy needs --owner.');
  });

  test('takes a value behind a space or an equals sign, other equals signs included', () => {
    expect(parse('--port', '0', '--rpc-url=https://rpc.example.com/?a=b').vars).toEqual({
      PORT: '0',
      RPC_URL: 'https://rpc.example.com/?a=b',
    });
  });

  test('takes a bare switch as true and a written one as it is', () => {
    expect(parse('--allow-log-delivery', '--port', '0').vars).toEqual({ ALLOW_LOG_DELIVERY: 'true', PORT: '0' });
    expect(parse('--allow-log-delivery=false').vars).toEqual({ ALLOW_LOG_DELIVERY: 'false' });
  });

  test('takes the usual short flags', () => {
    expect(parse('-h').options).toEqual({ help: 'true' });
    expect(parse('-v').options).toEqual({ version: 'true' });
  });

  test('has a flag for every setting but the secrets', () => {
    for (const name of SETTING_NAMES) {
      const isSecret = SETTINGS[name].kind === 'secret';
      if (isSecret) expect(() => parse(flagOf(name), 'x')).toThrow(`set ${name}, or ${name}_FILE`);
      else expect(parse(`${flagOf(name)}=x`).vars).toEqual({ [name]: 'x' });
    }
  });

  test.each<[string, string[], string]>([
    ['an unknown flag, with the nearest one', ['--bse-url', 'x'], 'did you mean --base-url?'],
    ['an unknown command, with the nearest one', ['sreve'], 'did you mean serve?'],
    ['half a command, with the other half', ['contracts'], 'did you mean contracts deploy?'],
    ['half a command before a flag', ['contracts', '--dry-run'], 'did you mean contracts deploy?'],
    [
      'half of several commands, with all of them',
      ['limits'],
      'vault limits needs a second word: limits show, limits clear.',
    ],
    ['a command like no other', ['xyzxyz'], 'Unknown command xyzxyz. Try vault --help.'],
    ['a flag of another command', ['serve', '--json'], 'Unknown flag --json'],
    ['a flag without its value', ['--port'], '--port needs a value'],
    ['a flag in place of a value', ['--port', '--host', '::1'], '--port needs a value'],
    ['a flag given twice', ['--port', '1', '--port=2'], '--port is given twice'],
    ['a value where there is none', ['config', '--json=yes'], '--json takes no value'],
    ['a stray word', ['serve', 'now'], 'Unexpected argument after vault serve: flags look like'],
    [
      'a word behind a switch',
      ['--webhook-allow-private', 'true'],
      'Unexpected argument after --webhook-allow-private: ',
    ],
    ['an unknown short flag', ['-p'], 'Unexpected argument -p'],
    ['a name every object has', ['constructor'], 'Unknown command'],
    ['a flag every object has', ['--constructor', 'x'], 'Unknown flag'],
  ])('refuses %s', (_, argv, message) => {
    expect(() => parse(...argv)).toThrow(UsageError);
    expect(() => parse(...argv)).toThrow(message);
  });

  test('a refusal does not repeat a secret', () => {
    expect(() => parse('--vault-secret=hunter2')).not.toThrow('hunter2');
    expect(() => parse('serve', 'hunter2')).not.toThrow('hunter2');
  });
});
