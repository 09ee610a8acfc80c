import { afterEach, describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { PACKAGED, secondUnitText, unitText } from '../../../commands/service/unit.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram, SOURCES } from '../../support/run.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const ends: (() => unknown)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const FILES = [
  'etc/nginx/conf.d/vault.conf',
  'etc/systemd/system/vault.service',
  'etc/systemd/system/vault@.service',
  'etc/sysusers.d/vault.conf',
  'etc/tmpfiles.d/vault.conf',
  'etc/vault/vault.env',
];
const PUBLIC = ['--base-url', 'https://vault.example.com'];
/** The built program of a run of tests lies where a unit sees none. */
const programOf = (words: readonly string[]) =>
  words.includes('--program') ? [] : ['--program', '/usr/local/bin/vault'];

/** A machine's files in a folder, and the command run on them. */
function machine() {
  const { path, remove } = temporaryFolder();
  ends.push(remove);
  return {
    install: (words: readonly string[], vars = {}) =>
      runProgram(['service', 'install', '--root', path, ...programOf(words), ...words], { cwd: path, vars }),
    read: (file: string) => readFileSync(join(path, file), 'utf8'),
    path: (file: string) => join(path, file),
    files: () =>
      readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => statSync(join(path, name)).isFile())
        .sort(),
    put(file: string, text: string) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text, { mode: 0o600 });
    },
  };
}

describe('vault service install', () => {
  test('writes units, settings, user and proxy, says so, and what to run next', async () => {
    const on = machine();
    const vars = {
      SMTP_URL: 'smtp://user:confidential@mail.example:587',
      EMAIL_PROVIDER: 'smtp',
      EMAIL_FROM: 'a@b.example',
    };
    const { code, out, err } = await on.install(['--proxy', 'nginx', ...PUBLIC], vars);
    expect([code, err]).toEqual([0, '']);
    expect(on.files()).toEqual(FILES);
    expect(
      out
        .split('\n')
        .filter((line) => line.startsWith('wrote '))
        .sort(),
    ).toEqual(FILES.map((file) => `wrote ${on.path(file)}`).sort());
    for (const step of [
      'systemd-sysusers',
      'vault init --config /etc/vault/vault.env',
      'doctor --config /etc/vault/vault.env',
      'enable --now',
      'nginx -t',
    ])
      expect(out).toContain(step);
    expect(out).not.toContain('confidential');
    expect(statSync(on.path('etc/vault/vault.env')).mode & 0o777).toBe(0o600);
    expect(statSync(on.path('etc/vault')).mode & 0o777).toBe(0o700);
    expect(statSync(on.path('etc/systemd/system/vault.service')).mode & 0o777).toBe(0o644);
    expect(on.read('etc/vault/vault.env')).toContain(`\nSMTP_URL=${vars.SMTP_URL}\n`);
    expect(on.read('etc/systemd/system/vault.service')).toStartWith(
      unitText({ ...PACKAGED, program: '/usr/local/bin/vault' }),
    );
  });

  test('a second run changes nothing, and the vault takes the settings it wrote', async () => {
    const on = machine();
    await on.install(['--proxy', 'caddy', ...PUBLIC, '--email-provider', 'none', '--sms-provider', 'none']);
    const before = on.files().map((file) => statSync(on.path(file)).mtimeMs);
    const again = await on.install(['--proxy', 'caddy']);
    expect(again.code).toBe(0);
    expect(again.out).not.toContain('wrote');
    expect(again.out).not.toContain('vault init');
    expect(on.files().map((file) => statSync(on.path(file)).mtimeMs)).toEqual(before);
    const config = on.path('etc/vault/vault.env');
    const shown = await runProgram(['config', '--config', config, '--data-dir', on.path('data')], {
      cwd: on.path('.'),
    });
    expect([shown.code, shown.err]).toEqual([0, '']);
  });

  test('with a place for backups writes their unit too, which may write there and nowhere else', async () => {
    const on = machine();
    const { code, out } = await on.install(['--proxy', 'nginx', '--backup-to', '/mnt/backups', ...PUBLIC]);
    expect(code).toBe(0);
    for (const step of [
      'install -d -m 700 -o vault -g vault /mnt/backups',
      'systemctl enable --now vault-backup.service',
    ])
      expect(out).toContain(`\n  ${step}`);
    const unit = on.read('etc/systemd/system/vault-backup.service');
    expect(unit).toContain('vault backup --config /etc/vault/vault.env --every 1h --to /mnt/backups\n');
    expect(unit).toContain('\nReadWritePaths=/mnt/backups\n');
    await on.install(['--backup-to', 's3://my-bucket/vault', '--backup-every', '6h', '--force']);
    const bucket = on.read('etc/systemd/system/vault-backup.service');
    expect(bucket).toContain('--every 6h --to s3://my-bucket/vault\n');
    expect(bucket).not.toContain('ReadWritePaths');
    for (const [words, remedy] of [
      [['--backup-to', '/etc'], 'choose a folder of its own, such as /mnt/backups'],
      [['--backup-to', '/mnt/b', '--backup-every', '30'], '--backup-every must be a number with s, m, h or d'],
      [['--backup-every', '1h'], '--backup-every needs --backup-to'],
    ] as const) {
      const refused = await on.install(words);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(remedy)]);
    }
  });

  test('follows the settings that are in force, and never replaces the file of them', async () => {
    const on = machine();
    const own =
      'BASE_URL=https://id.example.org\nPORT=443\nHOST=::\nDATA_DIR=/srv/vault\nDATABASE_URL=file:/data/v.db\nCLIENT_IP_HEADER=X-Client\n';
    on.put('etc/vault/vault.env', `${own}TRUSTED_PROXIES=127.0.0.1/32\n`);
    const { code, out } = await on.install(['--proxy', 'haproxy', '--second-port', '9999', '--user', 'keeper']);
    expect([code, out]).toEqual([0, expect.stringContaining('it is yours, and never replaced')]);
    expect(on.read('etc/vault/vault.env')).toStartWith(own);
    const unit = on.read('etc/systemd/system/vault.service');
    for (const line of ['User=keeper', 'ReadWritePaths=/srv/vault /data', 'AmbientCapabilities=CAP_NET_BIND_SERVICE'])
      expect(unit.split('\n')).toContain(line);
    const proxy = on.read('etc/haproxy/vault.cfg');
    for (const part of [
      'server first [::1]:443',
      'server second [::1]:9999',
      'set-header X-Client %[src]',
      'id.example.org',
    ])
      expect(proxy).toContain(part);
    expect(await on.install(['--port', '8080'])).toEqual({
      code: 2,
      out: '',
      err: `vault: ${on.path('etc/vault/vault.env')} is there and is not changed: set PORT in it, and try again.\n`,
    });
  });

  test('keeps what a person changed, until --force, which keeps the old file', async () => {
    const on = machine();
    await on.install(['--proxy', 'nginx', ...PUBLIC]);
    const file = 'etc/nginx/conf.d/vault.conf';
    appendFileSync(on.path(file), '# mine\n');
    on.put('etc/systemd/system/vault.service', '[Service]\nExecStart=/bin/true\n');
    const kept = await on.install(['--proxy', 'nginx']);
    expect(kept.code).toBe(1);
    for (const name of [file, 'etc/systemd/system/vault.service'])
      expect(kept.out).toContain(
        `kept ${on.path(name)}: it was not written here, or changed since: --force replaces it`,
      );
    expect(on.read(file)).toEndWith('# mine\n');
    const forced = await on.install(['--proxy', 'nginx', '--force']);
    expect(forced.code).toBe(0);
    expect(on.read(file)).not.toContain('# mine');
    const [aside = ''] = on.files().filter((name) => name.startsWith(`${file}.before-`));
    expect(on.read(aside)).toEndWith('# mine\n');
    // What is as it was written follows the settings.
    const env = on.path('etc/vault/vault.env');
    writeFileSync(env, readFileSync(env, 'utf8').replace('vault.example.com', 'other.example.com'));
    expect((await on.install(['--proxy', 'nginx'])).out).toContain(`updated ${on.path(file)}`);
  });

  test('from the sources it names where a built program belongs', () => {
    const words = ['--root', machine().path('.'), '--proxy', 'nginx', ...PUBLIC, '--dry-run'];
    expect(Bun.spawnSync([...SOURCES, 'service', 'install', ...words], { env: {} }).stdout.toString()).toContain(
      'ExecStart=/usr/local/bin/vault serve',
    );
  });

  test('--dry-run prints every file and writes none', async () => {
    const on = machine();
    const { code, out } = await on.install(['--proxy', 'nginx', ...PUBLIC, '--dry-run']);
    expect([code, on.files()]).toEqual([0, []]);
    for (const text of [
      ...FILES.map((file) => `would write ${on.path(file)}`),
      'ExecStart=',
      'server_name vault.example.com;',
    ])
      expect(out).toContain(text);
  });

  test('--dry-run shows no secret, neither of the environment nor of the settings file', async () => {
    const on = machine();
    const vars = { VAULT_SECRET, SMTP_URL: 'smtp://ada:confidential@mail.example:587' };
    const { code, out } = await on.install(['--dry-run'], vars);
    expect([code, out]).toEqual([0, expect.stringContaining('VAULT_SECRET=(secret)')]);
    on.put('etc/vault/vault.env', `VAULT_SECRET=${VAULT_SECRET}\nSMTP_URL=${vars.SMTP_URL}\n`);
    for (const shown of [out, (await on.install(['--dry-run'])).out]) {
      expect(shown).not.toContain(VAULT_SECRET);
      expect(shown).not.toContain('confidential');
    }
  });

  test('paths are cleaned: of a root with a slash behind it, and of data', async () => {
    const on = machine();
    const root = on.path('.');
    const words = [
      'service',
      'install',
      '--root',
      `${root}/`,
      ...programOf([]),
      '--config',
      on.path('etc/vault/own.env'),
    ];
    const { code } = await runProgram([...words, '--data-dir', '/var/lib//x/../vault/'], { cwd: root });
    expect([code, on.files()]).toEqual([0, expect.arrayContaining(['etc/vault/own.env'])]);
    expect(on.read('etc/systemd/system/vault.service')).toContain(
      '--config /etc/vault/own.env\nUser=vault\nGroup=vault\nUMask=0077\nStateDirectory=vault\n',
    );
    expect(on.read('etc/tmpfiles.d/vault.conf')).toContain('d /var/lib/vault 0700 vault vault\n');
  });

  test('a link of the root to a place outside is not followed', async () => {
    const [on, other] = [machine(), machine()];
    mkdirSync(on.path('etc'));
    symlinkSync(other.path('.'), on.path('etc/systemd'));
    const { code, err } = await on.install([]);
    expect([code, err]).toEqual([1, expect.stringContaining('outside of --root: make that link relative')]);
    expect(other.files()).toEqual([]);
  });

  test("a package's units are used as they are", async () => {
    const on = machine();
    on.put('lib/systemd/system/vault.service', unitText(PACKAGED));
    on.put('lib/systemd/system/vault@.service', secondUnitText(PACKAGED));
    await on.install(['--program', '/usr/bin/vault']);
    expect(existsSync(on.path('etc/systemd'))).toBe(false);
  });

  test.each<[string, string[], string]>([
    ['a proxy that it does not know', ['--proxy', 'apache'], '--proxy must be one of nginx, caddy, haproxy.'],
    ['a proxy without a public origin', ['--proxy', 'nginx'], 'add --base-url https://vault.example.com'],
    ['a path that systemd splits', ['--program', '/opt/my vault'], '--program must be an absolute path'],
    [
      'a program where the unit sees none',
      ['--program', '/home/ada/vault'],
      'hides from the vault: install -m 755 /home/ada/vault /usr/local/bin/vault, and run that.',
    ],
    ["the system's folders as data", ['--data-dir', '/var/lib'], "DATA_DIR is in /var/lib, which is the system's"],
    ['the same by dots', ['--data-dir', '/var/lib/vault/../../../etc'], "DATA_DIR is in /etc, which is the system's"],
    ['a database beside those of others', ['--database-url', 'file:/etc/v.db'], 'DATABASE_URL is in /etc, which'],
    [
      'data where the unit sees none, by dots',
      ['--data-dir', '/srv/../home/ada'],
      'DATA_DIR is /srv/../home/ada, in a',
    ],
    ['a host that nginx would split', ['--base-url', 'https://a;b{c}'], 'BASE_URL must be an origin'],
    ['a variable that no shell replaced', ['--base-url', 'https://$HOST'], 'BASE_URL must be an origin'],
    [
      'data where the unit sees none',
      ['--data-dir', '/run/user/1000/data'],
      'DATA_DIR is /run/user/1000/data, in a folder that the unit',
    ],
    ['a user that cannot be', ['--user', 'a b'], '--user must be the name of a user'],
    ['a port that cannot be', ['--second-port', '70000'], '--second-port must be a port'],
    ['a port that changes', ['--port', '0'], 'a service needs a fixed port'],
  ])('refuses %s, with the remedy', async (_, words, message) => {
    const on = machine();
    const { code, err } = await on.install(words);
    expect([code, err, on.files()]).toEqual([2, expect.stringContaining(message), []]);
  });
});
