/** The flags of commands that are no settings, by name: how each is written and what it means. `<…>` takes a value; one without dashes is an operand, given by its place. */
export const OPTIONS: Readonly<Record<string, readonly [written: string, meaning: string]>> = {
  FILE: ['FILE', 'the backup'],
  TOKEN: ['TOKEN', 'the token, or - for standard input'],
  CID: ['CID', 'the name of a token or a delegation, as vault token inspect prints it'],
  SHELL: ['SHELL', 'bash, zsh or fish'],
  ID: ['ID', 'the number that the list shows'],
  config: [
    '--config <file>',
    'a file of NAME=value lines; flags win over the environment, the environment over the file',
  ],
  json: ['--json', 'for programs'],
  'dry-run': ['--dry-run', 'say what would be done, and change nothing'],
  owner: ['--owner <address>', 'who may name registrars [the account that pays]'],
  registrar: ['--registrar <address>', 'the first registrar [the account of REGISTRAR_PRIVATE_KEY, else none]'],
  'with-secrets': ['--with-secrets', 'put the generated secrets of DATA_DIR into the backup, or take them out of it'],
  overwrite: ['--overwrite', 'replace a database that holds something; the old file is kept beside it'],
  'other-secret': ['--other-secret', 'take a backup of another VAULT_SECRET; then only damage is sure to be noticed'],
  operator: ['--operator', 'rotate OPERATOR_SECRET instead of the attestation key'],
  kind: ['--kind <kind>', 'the limit, by the name it refuses under, such as sends-per-ip'],
  key: ['--key <key>', 'whose: an IP, or an identifier such as email:alice@example.com; those of a day have none'],
  after: ['--after <id>', 'only registrations with a higher id [0]'],
  out: ['--out <file>', 'where to write [standard output]'],
  status: ['--status <status>', 'queued, delivered or dead [dead]'],
  app: ['--app <app>', 'whose events [a delegation: of every app]'],
  channel: ['--channel <channel>', 'events of one channel [all]'],
  aud: ['--aud <did:key>', 'who is given leave'],
  command: ['--command <command>', 'what may be done [/vault/console]'],
  expires: ['--expires <time>', 'for how long, such as 12h or 30d [30d]'],
  help: ['--help, -h', 'this text'],
  version: ['--version, -v', 'the release'],
};

/** Whether the flag is followed by a value. */
export function takesValue(option: string): boolean {
  return OPTIONS[option]?.[0].includes('<') === true;
}

/** Whether it is no flag but a word that has its place on the command line. */
export function isOperand(option: string): boolean {
  return OPTIONS[option]?.[0].startsWith('-') === false;
}
