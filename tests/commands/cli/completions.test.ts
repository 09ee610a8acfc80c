import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { flagOf } from '../../../commands/cli/arguments.ts';
import { flagOfOption, isOperand } from '../../../commands/cli/options.ts';
import { loadCommands } from '../../../commands/index.ts';
import { SETTING_NAMES } from '../../../lib/config/config.ts';
import { SETTINGS } from '../../../lib/config/settings.ts';
import { EMAIL_PROVIDERS } from '../../../lib/delivery/providers.ts';
import { STORED_LIMITS } from '../../../lib/limits/catalogue.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';

const COMMANDS = await loadCommands();
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'];
const folder = temporaryFolder();
const scriptOf = async (shell: string) => {
  const { code, out } = await runProgram(['completions', shell], { cwd: folder.path });
  expect(code).toBe(0);
  return out;
};
afterAll(() => folder.remove());

test('a flag means the same to every command that has it', () => {
  const options = Object.values(COMMANDS).flatMap((command) => command.options);
  const texts = [...Map.groupBy(options, ({ name }) => name).values()];
  const different = texts.filter((all) => new Set(all.map(({ written, meaning }) => written + meaning)).size > 1);
  expect(different).toEqual([]);
});

test('another shell is refused with 2', async () => {
  expect(await runProgram(['completions', 'cmd'], { cwd: folder.path })).toMatchObject({ code: 2, out: '' });
  expect(await runProgram(['completions'], { cwd: folder.path })).toMatchObject({ code: 2, out: '' });
});

const syntax = SHELLS.filter((shell) => shell !== 'powershell' && Bun.which(shell));
for (const shell of SHELLS.filter((one) => !syntax.includes(one)))
  console.log(`There is no ${shell} here: its script is not run.`);

test.each(syntax)('%s takes its script', async (shell) => {
  const path = join(folder.path, `vault.${shell}`);
  await Bun.write(path, await scriptOf(shell));
  expect(Bun.spawnSync([shell, '-n', path])).toMatchObject({ exitCode: 0 });
});

test('every shell knows every command, and every setting but the secrets', async () => {
  for (const shell of SHELLS) {
    const script = await scriptOf(shell);
    for (const word of Object.keys(COMMANDS).flatMap((name) => name.split(' '))) expect(script).toContain(word);
    for (const name of SETTING_NAMES) {
      const flag = shell === 'fish' ? `-l ${flagOf(name).slice(2)} ` : `${flagOf(name)}`;
      if (SETTINGS[name].kind === 'secret') expect(script).not.toContain(`${flag} `);
      else expect(script).toContain(flag);
    }
  }
});

if (Bun.which('zsh')) {
  describe('zsh, asked what may come next,', () => {
    /** What the function hands to zsh's own `_describe` and `_arguments`, a word a line. */
    const next = async (...words: string[]) => {
      const path = join(folder.path, '_vault');
      await Bun.write(path, await scriptOf('zsh'));
      const line = `compdef() { : }; source ${path}; _describe() { print -l -- "\${(P@)2}" }; _arguments() { print -l -- "$CURRENT $words" "$@" }
        words=(vault ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=$#words; _vault`;
      const { exitCode, stdout, stderr } = Bun.spawnSync(['zsh', '-f', '-c', line], { cwd: folder.path });
      expect([exitCode, stderr.toString()]).toEqual([0, '']);
      return stdout.toString().split('\n').filter(Boolean);
    };

    test('names commands with what they do, first words and second ones', async () => {
      const first = [...new Set(Object.keys(COMMANDS).map((name) => name.split(' ')[0] ?? ''))];
      expect((await next('')).map((line) => line.split(':')[0])).toEqual(first);
      expect(await next('limits', '')).toEqual([
        'show:shows how much of each limit is used',
        'clear:resets a limit for a blocked user',
      ]);
    });

    test('names the flags of the command, and the settings, with the words before it taken away', async () => {
      const own = await next('limits', 'clear', '--k');
      expect(own[0]).toBe('2 clear --k');
      expect(own.slice(1, 6).map((spec) => spec.split(/[=[]/)[0])).toEqual([
        '--kind',
        '--key',
        '--json',
        '--config',
        '--help',
      ]);
      expect(own.some((spec) => spec.startsWith('--base-url=['))).toBe(true);
      expect(await next('restore', 'a')).toContain('1:the backup file:_files');
      expect((await next('completions', '')).at(1)).toBe('1:bash, zsh, fish or powershell:(bash zsh fish powershell)');
      expect((await next('--data-d')).at(0)).toBe('2 vault --data-d');
    });

    test('names the values of a flag that has some', async () => {
      expect(await next('--log-level', '')).toContain(
        '--log-level=[lowest level that is written; debug adds one line per request]:value:(error warn info debug)',
      );
      expect((await next('limits', 'show', '')).join()).toContain(`:value:(${STORED_LIMITS.join(' ')})`);
    });
  });
}

if (Bun.which('bash')) {
  describe('bash, asked what may come next,', () => {
    let script: string;
    beforeAll(async () => {
      script = await scriptOf('bash');
    });
    const next = (...words: string[]) => {
      const line = `${script}\nCOMP_WORDS=(vault ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _vault; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { exitCode, stdout } = Bun.spawnSync(['bash', '-c', line], { cwd: folder.path });
      expect(exitCode).toBe(0);
      return stdout.toString().split('\n').filter(Boolean);
    };

    test('names commands, first words and second ones', () => {
      const first = [...new Set(Object.keys(COMMANDS).map((name) => name.split(' ')[0] ?? ''))];
      expect(next('').sort()).toEqual([...first].sort());
      expect(next('comp')).toEqual(['completions']);
      expect(next('limits', '')).toEqual(['show', 'clear']);
      expect(next('keys', '')).toEqual(['rotate']);
      expect(next('completions', '')).toEqual(SHELLS);
    });

    test('names the flags of the command alone, and the settings', () => {
      for (const [name, { options, usesSettings }] of Object.entries(COMMANDS)) {
        const own = options.filter((one) => !isOperand(one)).map(flagOfOption);
        const found = next(...name.split(' '), '--');
        expect(found.slice(0, own.length)).toEqual(own);
        expect(found.includes('--base-url')).toBe(usesSettings);
      }
      expect(next('--data-d')).toEqual(['--data-dir']);
      expect(next('backup', 'x', '--with')).toEqual(['--with-secrets']);
    });

    test('names the values of a flag that has some, behind a blank and behind an equals sign', () => {
      expect(next('--email-provider', '')).toEqual([...EMAIL_PROVIDERS.map(({ name }) => name)]);
      expect(next('serve', '--log-level', 'd')).toEqual(['debug']);
      // As bash splits the words of a line.
      expect(next('serve', '--log-level', '=')).toEqual(['error', 'warn', 'info', 'debug']);
      expect(next('serve', '--log-level', '=', 'w')).toEqual(['warn']);
      expect(next('limits', 'show', '--kind', 'sends-per-n')).toEqual(['sends-per-number', 'sends-per-number-day']);
      expect(next('webhooks', 'list', '--status', 'd')).toEqual(['delivered', 'dead']);
      expect(next('serve', '--port', '8')).toEqual([]);
    });

    test('names files where one is asked for', async () => {
      await Bun.write(join(folder.path, 'a.backup'), '');
      expect(next('restore', 'a.')).toEqual(['a.backup']);
      expect(next('serve', '--config', 'a.')).toEqual(['a.backup']);
    });
  });
}

if (Bun.which('fish')) {
  describe('fish, asked what may come next,', () => {
    let path: string;
    beforeAll(async () => {
      path = join(folder.path, 'vault.fish');
      await Bun.write(path, await scriptOf('fish'));
    });
    const next = (line: string) => {
      const script = `source ${path}; complete -C ${JSON.stringify(line)}`;
      const env = { HOME: folder.path, PATH: process.env['PATH'] ?? '' };
      const { exitCode, stdout } = Bun.spawnSync(['fish', '--no-config', '-c', script], { cwd: folder.path, env });
      expect(exitCode).toBe(0);
      const lines = stdout.toString().split('\n').filter(Boolean);
      return lines.map((word) => word.split('\t')[0] ?? '');
    };

    test('names commands, flags and values', () => {
      expect(next('vault comp')).toEqual(['completions']);
      expect(next('vault limits ').sort()).toEqual(['clear', 'show']);
      expect(next('vault serve --data-d')).toEqual(['--data-dir']);
      expect(next('vault serve --log-level ').sort()).toEqual(['debug', 'error', 'info', 'warn']);
      expect(next('vault limits show --kind sends-per-n').sort()).toEqual(['sends-per-number', 'sends-per-number-day']);
    });
  });
}

// There is no PowerShell for this test to run: the text alone is looked at.
describe('the script of PowerShell', () => {
  test('is closed where it is opened, and its quotes pair up', async () => {
    const script = await scriptOf('powershell');
    const bare = script.replace(/^#.*$/gm, '').replace(/'(?:[^']|'')*'/g, "''");
    for (const [open, close] of ['{}', '()', '[]'].map((pair) => pair.split('')))
      expect(bare.split(open ?? '').length).toBe(bare.split(close ?? '').length);
    for (const line of bare.split('\n')) expect([line, (line.match(/'/g) ?? []).length % 2]).toEqual([line, 0]);
    expect(script).toContain('Register-ArgumentCompleter -Native -CommandName vault, vault.exe -ScriptBlock {');
  });

  test('has the flags of each command and the values of each flag', async () => {
    const script = await scriptOf('powershell');
    for (const [name, { options, usesSettings }] of Object.entries(COMMANDS)) {
      const own = options.filter((one) => !isOperand(one)).map((one) => `'${flagOfOption(one)}'`);
      expect(script).toContain(`    '${name}' = @(${own.join(', ')})${usesSettings ? ' + $settings' : ''}\n`);
    }
    expect(script).toContain(`'--log-level' = @('error', 'warn', 'info', 'debug')`);
    expect(script).toContain(`'--kind' = @(${STORED_LIMITS.map((one) => `'${one}'`).join(', ')})`);
    expect(script).toContain(`'limits' = @('show', 'clear')`);
  });
});
