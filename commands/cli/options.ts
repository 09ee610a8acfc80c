/** The flags of commands that are no settings, by name: how each is written and what it means. `<…>` takes a value; one without dashes is an operand, given by its place. */
export const OPTIONS: Readonly<Record<string, readonly [written: string, meaning: string]>> = {
  FILE: ['FILE', 'the backup file'],
  TOKEN: ['TOKEN', 'the token, or - for standard input'],
  CID: ['CID', 'the CID of a token or a delegation, as vault token inspect prints it'],
  SHELL: ['SHELL', 'bash, zsh or fish'],
  ID: ['ID', 'the id that vault webhooks list shows'],
  config: [
    '--config <file>',
    'a file of NAME=value lines; flags override the environment, the environment overrides the file',
  ],
  json: ['--json', 'print JSON'],
  'dry-run': ['--dry-run', 'print what would be done, and change nothing'],
  owner: ['--owner <address>', 'the account that appoints registrars [the account that pays]'],
  registrar: ['--registrar <address>', 'the first registrar [the account of REGISTRAR_PRIVATE_KEY, else none]'],
  'with-secrets': [
    '--with-secrets',
    'include the generated secrets of DATA_DIR in the backup, or restore them from it',
  ],
  overwrite: ['--overwrite', 'replace a database that is not empty; the old file is kept beside it'],
  'other-secret': ['--other-secret', 'accept a backup of another VAULT_SECRET; then only damage is reliably detected'],
  operator: ['--operator', 'rotate OPERATOR_SECRET instead of the attestation key'],
  kind: ['--kind <kind>', 'name of the limit, such as sends-per-ip'],
  key: ['--key <key>', 'an IP, or an identifier such as email:alice@example.com; the -per-day limits have none'],
  after: ['--after <id>', 'only registrations with a higher id [0]'],
  out: ['--out <file>', 'the file to write [standard output]'],
  status: ['--status <status>', 'queued, delivered or dead [dead]'],
  app: ['--app <app>', 'the app whose events may be read [token delegate: every app]'],
  channel: ['--channel <channel>', 'only the events of this channel [all]'],
  aud: ['--aud <did:key>', 'the key that receives the delegation'],
  command: ['--command <command>', 'the command that is allowed [/vault/console]'],
  expires: ['--expires <time>', 'lifetime, such as 12h or 30d [30d]'],
  help: ['--help, -h', 'print this text'],
  version: ['--version, -v', 'print the release'],
};

/** Whether the flag is followed by a value. */
export function takesValue(option: string): boolean {
  return OPTIONS[option]?.[0].includes('<') === true;
}

/** Whether it is no flag but a word that has its place on the command line. */
export function isOperand(option: string): boolean {
  return OPTIONS[option]?.[0].startsWith('-') === false;
}
