import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../commands/index.ts';
import { SETTING_NAMES } from '../../lib/config/config.ts';
import { temporaryFolder } from '../support/databases.ts';
import { runProgram } from '../support/run.ts';

// There is no Docker where these tests run: the files are read, and what they set is tried on the program.

const PACKAGING = join(import.meta.dir, '../../packaging');
const read = (name: string) => readFileSync(join(PACKAGING, name), 'utf8');

/** Instructions of the Dockerfile, each on one line. */
const instructions = read('Dockerfile')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => /^([A-Z]+) (.*)$/.exec(line)?.slice(1) ?? [line, '']);
const valuesOf = (name: string) => instructions.filter(([word]) => word === name).map(([, rest = '']) => rest);

test('the image has the program alone, for a user without rights, who is a number', () => {
  expect(valuesOf('COPY')).toEqual(['--chmod=0755 vault /usr/bin/vault']);
  const [user = ''] = valuesOf('USER');
  const [uid, gid] = user.split(':');
  // The volume is of the user that writes to it, made while the image is still root's.
  expect(valuesOf('RUN')).toEqual([`install -d -o ${uid} -g ${gid} -m 0700 /data`]);
  const order = instructions.map(([word]) => word);
  expect(order.indexOf('RUN')).toBeLessThan(order.indexOf('USER'));
  expect(valuesOf('ADD')).toEqual([]);
  expect(user).toMatch(/^[1-9]\d+:[1-9]\d+$/);
  expect(valuesOf('VOLUME')).toEqual(['/data']);
});

test('the image sets settings that there are, and runs commands that there are', () => {
  const env = environment();
  expect(Object.keys(env).filter((name) => !SETTING_NAMES.includes(name as never))).toEqual([]);
  expect(env['DATA_DIR']).toBe('/data');
  expect(valuesOf('EXPOSE')).toEqual([env['PORT'] ?? '']);
  const [health = ''] = valuesOf('HEALTHCHECK');
  const words = JSON.parse(/CMD (\[.*\])$/.exec(health)?.[1] ?? '[]');
  expect(words).toEqual(['/usr/bin/vault', 'health']);
  expect(
    [words[1], ...valuesOf('CMD').flatMap((text) => JSON.parse(text))].filter((one) => !(one in COMMANDS)),
  ).toEqual([]);
  expect(valuesOf('ENTRYPOINT').map((text) => JSON.parse(text))).toEqual([['/usr/bin/vault']]);
});

test('a container without settings of its own does not start, and says what to set', async () => {
  const folder = temporaryFolder();
  const vars = { ...environment(), DATA_DIR: folder.path };
  const { code, err } = await runProgram(['config'], { cwd: folder.path, vars });
  expect([code, err]).toEqual([2, expect.stringContaining('EMAIL_PROVIDER must not be log')]);
  const named = { ...vars, EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' };
  expect((await runProgram(['config'], { cwd: folder.path, vars: named })).code).toBe(0);
  folder.remove();
});

test('the compose file asks for no rights, and for the port of this machine alone', () => {
  const { services, volumes } = Bun.YAML.parse(read('compose.yaml')) as {
    services: Record<string, Record<string, unknown>>;
    volumes: Record<string, unknown>;
  };
  expect(services['vault']).toMatchObject({
    build: '.',
    ports: ['127.0.0.1:8787:8787'],
    volumes: ['data:/data'],
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
  expect(Object.keys(volumes)).toEqual(['data']);
});

test('the settings of the Debian package are settings', async () => {
  const lines = read('vault.env').split('\n');
  const names = lines.flatMap((line) => /^#?([A-Z][A-Z0-9_]*)=/.exec(line)?.[1] ?? []);
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !SETTING_NAMES.includes(name.replace(/_FILE$/, '') as never))).toEqual([]);
  const folder = temporaryFolder();
  const set = join(folder.path, 'vault.env');
  await Bun.write(set, read('vault.env').replace('/var/lib/vault', folder.path));
  expect((await runProgram(['config', '--config', set], { cwd: folder.path })).code).toBe(0);
  folder.remove();
});

function environment(): Record<string, string> {
  const pairs = valuesOf('ENV').flatMap((text) => text.split(' '));
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}
