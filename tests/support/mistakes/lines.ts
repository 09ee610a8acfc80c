import type { Mistake } from './mistake.ts';

/** Command lines. */
export const LINES: readonly Mistake[] = [
  { args: '--prot 8787', says: ['Unknown flag --prot: did you mean --port? Try vault --help.'], exit: 2 },
  { args: 'sreve', says: ['Unknown command sreve: did you mean serve? Try vault --help.'], exit: 2 },
  { args: 'limits', says: ['vault limits needs a second word: limits show, limits clear. Try vault --help.'], exit: 2 },
  {
    args: 'serve --vault-secret abc',
    says: [
      '--vault-secret is not a flag, because other users can read a command line: set VAULT_SECRET, or VAULT_SECRET_FILE to a file that contains it.',
    ],
    exit: 2,
  },
  { args: 'serve --port', says: ['--port needs a value.'], exit: 2 },
  { args: 'serve --port 1 --port 2', says: ['--port is given twice.'], exit: 2 },
  {
    args: 'serve now',
    says: [
      'Unexpected argument after vault serve: flags look like --port 8787, switches like --webhook-allow-private or --webhook-allow-private=false. Try vault --help.',
    ],
    exit: 2,
  },
  {
    args: 'serve --webhook-allow-private true',
    says: [
      'Unexpected argument after --webhook-allow-private: flags look like --port 8787, switches like --webhook-allow-private or --webhook-allow-private=false. Try vault --help.',
    ],
    exit: 2,
  },
  {
    args: 'help settings BASEURL',
    says: ['There is no setting or group BASEURL: did you mean BASE_URL? Try vault help settings.'],
    exit: 2,
  },
  { args: 'completions cmd', says: ['There are no completions for cmd: choose bash, zsh, fish, powershell.'], exit: 2 },
  {
    args: 'limits show --kind sends-per-mail',
    says: ['--kind is one of sends-per-ip, sends-per-identifier', 'did you mean sends-per-ip?'],
    exit: 2,
  },
  {
    args: 'token mint --app shop',
    done: 'A token before the first start',
    says: ['There are no keys in ./vault-data yet: start the vault once, or set VAULT_SECRET.'],
    exit: 2,
  },
  {
    args: 'token inspect nonsense',
    says: ['Not valid: neither a container ("C…") nor a token ("g…") in base64url.'],
    exit: 1,
  },
  {
    args: 'token mint --app shpo',
    beside: { APPS: 'shop', VAULT_SECRET: '0123456789abcdef'.repeat(4) },
    done: 'A token for an app that is not in `APPS`',
    says: ['shpo is not in APPS, so it has no events: add it to APPS, did you mean shop?'],
    exit: 0,
  },
  { args: 'restore missing.backup', says: ['there is no file {folder}/missing.backup.'], exit: 2 },
  {
    args: 'restore notes.txt',
    files: { 'notes.txt': 'no backup' },
    says: ['this is not a backup of a vault, or its end is missing or damaged'],
    exit: 1,
  },
  {
    args: 'backup x.backup',
    done: 'A backup before the first start',
    says: [
      'no backup was made: there is no database at {folder}/vault-data/vault.db: start the vault once, or set DATA_DIR or DATABASE_URL to where it is',
    ],
    exit: 1,
  },
];

/** Files of settings and secrets. */
export const FILES: readonly Mistake[] = [
  { args: 'serve --config missing.env', says: ['--config: missing.env cannot be read (ENOENT).'], exit: 2 },
  {
    args: 'serve --config vault.env',
    files: { 'vault.env': 'BASEURL=https://vault.example.com\n' },
    says: ['vault.env: line 1: BASEURL is not a setting: did you mean BASE_URL?'],
    exit: 2,
  },
  {
    args: 'serve --config vault.env',
    files: { 'vault.env': 'PORT 8787\n' },
    says: ['vault.env: line 1 is not NAME=value.'],
    exit: 2,
  },
  {
    args: 'serve --config vault.env',
    files: { 'vault.env': 'PORT=1\nPORT=2\n' },
    says: ['vault.env: line 2: PORT is given twice.'],
    exit: 2,
  },
  {
    args: 'serve --config vault.json',
    files: { 'vault.json': '{ "PORT": 8787 }\n' },
    says: ['vault.json is JSON: write a line NAME=value for each setting, such as PORT=8787.'],
    exit: 2,
  },
  {
    args: 'serve --config vault.yaml',
    files: { 'vault.yaml': 'PORT: 8787\nHOST: ::1\n' },
    says: ['vault.yaml: lines 1, 2 are not NAME=value.'],
    exit: 2,
  },
  {
    done: 'A file of settings that others can read',
    args: 'serve --config vault.env',
    files: { 'vault.env': 'PORT=0\n' },
    mode: 0o644,
    says: ['vault.env can be read by other users: chmod 600 vault.env'],
    exit: 'goes on',
  },
  {
    done: 'Quotes, `export` and a comment in the file, which are taken as meant',
    args: 'serve --config vault.env',
    files: { 'vault.env': '# mine\nexport BRAND_NAME="Example Inc"\n' },
    says: ['"listening"'],
    exit: 'goes on',
  },
  {
    vars: { SMTP_URL: 'smtp://mail.example.com', SMTP_URL_FILE: 'smtp' },
    files: { smtp: 'smtp://mail.example.com\n' },
    says: ['SMTP_URL and SMTP_URL_FILE are both set (environment): keep one of them.'],
    exit: 2,
  },
  { vars: { VAULT_SECRET_FILE: 'missing' }, says: ['VAULT_SECRET_FILE: missing cannot be read (ENOENT).'], exit: 2 },
  { vars: { VAULT_SECRET_FILE: 'empty' }, files: { empty: '' }, says: ['VAULT_SECRET_FILE: empty is empty.'], exit: 2 },
  { vars: { BRANDS: 'missing.json' }, says: ['BRANDS names a file that does not exist'], exit: 2 },
];
