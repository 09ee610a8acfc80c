import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Config } from '../../lib/config/config.ts';
import { readInterval } from '../backup/schedule.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import type { Command } from '../cli/command.ts';
import { CONFIG, DRY_RUN, FORCE, HELP, option } from '../cli/options.ts';
import { print } from '../cli/print.ts';
import { checkSettings, isEmbedded, randomSecret } from '../setup/settings.ts';
import { serviceDefaults, settingsFile, shownSettingsFile } from '../setup/settings-file.ts';
import { type Given, readVars } from '../setup/vars.ts';
import { filePath } from '../storage/database.ts';
import { caddyText } from './caddy.ts';

import { haproxyText } from './haproxy.ts';
import { nextSteps } from './next-steps.ts';
import { nginxText } from './nginx.ts';
import { ELSEWHERE, ownFolder, servicePath, visible } from './paths.ts';
import { PROXIES, type ProxyName, readProxyFacts, readSecondPort, SECOND_PORT } from './proxy-facts.ts';
import { type FileOutcome, type SystemFile, writeSystemFile } from './system-files.ts';
import { backupUnitText, PACKAGED, secondUnitText, type UnitOptions, unitText } from './unit.ts';

/** How often backups are made by default. */
const EVERY = '1h';

/** `vault service install`. */
export const serviceInstallCommand: Command = {
  summary: 'writes the systemd units, the settings file and the files of a proxy',
  options: [
    option('--proxy <name>', `also write the files of ${PROXIES.join(', ')}`, PROXIES),
    option('--root <dir>', 'write below this directory instead of /'),
    option('--program <file>', 'the program that the unit runs; by default this one'),
    option('--user <name>', `the user that the vault runs as [${PACKAGED.user}]`),
    SECOND_PORT,
    option('--backup-to <place>', 'also write a unit that makes backups: a folder, or s3://BUCKET/PREFIX'),
    option('--backup-every <interval>', `with --backup-to: how often, such as 15m, 6h or 1d [${EVERY}]`),
    option('--certificate <file>', "the certificate that the proxy shows; by default certbot's, or Caddy's own"),
    option('--certificate-key <file>', 'the key of the certificate'),
    FORCE,
    DRY_RUN,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: ['BASE_URL', 'EMAIL_PROVIDER', 'EMAIL_FROM', 'RPC_URL'],
  examples: [
    'vault service install --proxy nginx --base-url https://vault.example.com',
    'vault service install --dry-run --root /tmp/trial',
  ],
  notes: [
    `Settings that are given become ${PACKAGED.configFile}, if there is no such file. Otherwise the file's settings count.`,
    'Nothing is started, and no file is replaced that a person has changed.',
  ],
  exitCodes: '0 success, 1 failure or a file was kept because it was changed by hand, 2 invalid usage',
  run: install,
};

/** Writes what is not there yet, says what it did, and what to run next. */
function install(given: Arguments): number {
  const { options } = given;
  const root = resolve(options['root'] ?? '/');
  if (root === '/' && !existsSync('/etc/systemd'))
    throw new Error('there is no systemd on this machine (/etc/systemd): --root DIR writes the files elsewhere');
  const proxy = readProxy(options['proxy']);
  const configFile = visible('--config', withoutRoot(options['config'] ?? PACKAGED.configFile, root));
  const settings = settingsInForce(given, join(root, configFile));
  const unit = unitOptions(settings.config, { given, root, configFile });
  const secondPort = readSecondPort(given, settings.config);
  const files: SystemFile[] = [
    {
      ...{ path: configFile, text: settingsFile(settings.given), shown: shownSettingsFile(settings.given) },
      ...{ mode: 0o600, isOperators: true },
    },
    { path: '/etc/sysusers.d/vault.conf', text: sysusersText(unit), mode: 0o644 },
    { path: '/etc/tmpfiles.d/vault.conf', text: tmpfilesText(unit), mode: 0o644 },
    ...unitFiles(unit, root),
    ...backupFiles(unit, options),
    ...(proxy === undefined ? [] : [proxyFile(proxy, settings.config, { given, secondPort })]),
  ];
  const isDryRun = options['dry-run'] !== undefined;
  const writing = { root, isForced: options['force'] !== undefined, isDryRun };
  const outcomes = files.map((file) => writeSystemFile(file, writing));
  print(outcomes.map((outcome) => inWords(outcome, isDryRun)).join('\n'));
  if (isDryRun) print(files.map(({ path, text, shown = text }) => `\n=== ${path}\n${shown}`).join(''));
  else
    print(
      `\nNext:\n${nextSteps({ unit, proxy, secondPort, backupTo: options['backup-to'], isNew: outcomes[0]?.did === 'wrote' })}`,
    );
  return outcomes.some(({ did }) => did === 'kept') ? 1 : 0;
}

interface InForce {
  readonly given: Given;
  readonly config: Config;
}

/** The service's settings: those of its file where there is one, else those given now. */
function settingsInForce({ vars: flags, options }: Arguments, file: string): InForce {
  const isThere = existsSync(file);
  const given = isThere ? readVars({}, {}, file) : readVars(flags, process.env);
  for (const [name, value] of Object.entries(isThere ? flags : {}))
    if (given.vars[name] !== value)
      throw new UsageError(`${file} is there and is not changed: set ${name} in it, and try again.`);
  const vars = isThere ? given.vars : { ...serviceDefaults(options['proxy'] !== undefined), ...given.vars };
  // The vault makes the secret at its first start. These files do not say who sends codes, so that may come later.
  const later = { VAULT_SECRET: randomSecret(), ALLOW_LOG_DELIVERY: 'true' };
  const config = checkSettings({ vars: { ...later, ...vars }, sources: given.sources });
  if (config.port === 0) throw new UsageError('PORT is 0: a service needs a fixed port, such as --port 8787.');
  return { given: { ...given, vars }, config };
}

interface Choice {
  readonly given: Arguments;
  readonly root: string;
  readonly configFile: string;
}

function unitOptions(config: Config, { given: { options }, root, configFile }: Choice): UnitOptions {
  const dataDir = ownFolder('DATA_DIR', isAbsolute(config.dataDir) ? config.dataDir : PACKAGED.dataDir);
  const database = isEmbedded(config.databaseUrl) ? resolve(dataDir, dirname(filePath(config.databaseUrl))) : dataDir;
  const isInside = `${database}/`.startsWith(`${dataDir}/`);
  const user = options['user'] ?? PACKAGED.user;
  if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(user))
    throw new UsageError('--user must be the name of a user of this system, such as vault.');
  return {
    program: visible('--program', withoutRoot(options['program'] ?? thisProgram(), root)),
    configFile,
    dataDir,
    user,
    writable: isInside ? [] : [ownFolder('DATABASE_URL', database)],
    isPortPrivileged: Math.min(config.port, config.adminPort || config.port) < 1024,
  };
}

const PACKAGED_UNITS = ['/usr/lib/systemd/system', '/lib/systemd/system'];

/** The units, but for those that a package has brought as they should be. */
function unitFiles(unit: UnitOptions, root: string): SystemFile[] {
  const units = { 'vault.service': unitText(unit), 'vault@.service': secondUnitText(unit) };
  return Object.entries(units).flatMap(([name, text]) => {
    const isPackaged = PACKAGED_UNITS.map((folder) => join(root, folder, name)).some(
      (path) => existsSync(path) && readFileSync(path, 'utf8') === text,
    );
    if (isPackaged) return [];
    return [{ path: `/etc/systemd/system/${name}`, text, mode: 0o644 }];
  });
}

/** The unit of backups, where a place for them is given. */
function backupFiles(unit: UnitOptions, options: Arguments['options']): SystemFile[] {
  const { 'backup-to': to, 'backup-every': every } = options;
  if (to === undefined && every !== undefined) throw new UsageError('--backup-every needs --backup-to.');
  if (to === undefined) return [];
  readInterval(every ?? EVERY, '--backup-every');
  const place = /^s3:\/\/[\w./@+-]+$/.test(to) ? to : ownFolder('--backup-to', to, '/mnt/backups');
  return [
    {
      path: '/etc/systemd/system/vault-backup.service',
      text: backupUnitText(unit, place, every ?? EVERY),
      mode: 0o644,
    },
  ];
}

function proxyFile(
  proxy: ProxyName,
  config: Config,
  { given: { options }, secondPort }: { given: Arguments; secondPort: number },
): SystemFile {
  const certificate = options['certificate'] && servicePath('--certificate', options['certificate']);
  const certificateKey = options['certificate-key'] && servicePath('--certificate-key', options['certificate-key']);
  const facts = readProxyFacts(config, { secondPort, certificate, certificateKey });
  const [path, text] = {
    nginx: ['/etc/nginx/conf.d/vault.conf', nginxText(facts)],
    caddy: ['/etc/caddy/vault.caddyfile', caddyText(facts)],
    haproxy: ['/etc/haproxy/vault.cfg', haproxyText(facts)],
  }[proxy] as [string, string];
  return { path, text, mode: 0o644 };
}

function sysusersText({ user, dataDir }: UnitOptions): string {
  return `u ${user} - "vault" ${dataDir}\n`;
}

/**
 * Folders only where they are the vault's own, never /etc. That of the settings stays root's: systemd-tmpfiles changes
 * nothing of root's in a folder of another user.
 */
function tmpfilesText({ user, configFile, dataDir }: UnitOptions): string {
  const [settings, data] = [dirname(configFile), dataDir].map((path) => path.endsWith('/vault') && path);
  return [
    ...(settings ? [`d ${settings} 0750 root ${user}`] : []),
    ...(data ? [`d ${data} 0700 ${user} ${user}`] : []),
    `z ${configFile} 0600 ${user} ${user}`,
    '',
  ].join('\n');
}

/** The built program; one that runs from the source names where a built one belongs. */
function thisProgram(): string {
  return import.meta.path.startsWith('/$bunfs/') ? process.execPath : ELSEWHERE;
}

function withoutRoot(path: string, root: string): string {
  return root !== '/' && path.startsWith(`${root}/`) ? path.slice(root.length) : path;
}

function readProxy(text: string | undefined): ProxyName | undefined {
  const proxy = PROXIES.find((name) => name === text);
  if (text !== undefined && proxy === undefined) throw new UsageError(`--proxy must be one of ${PROXIES.join(', ')}.`);
  return proxy;
}

const WOULD: Readonly<Record<FileOutcome['did'], string>> = {
  wrote: 'would write',
  updated: 'would update',
  replaced: 'would replace',
  unchanged: 'unchanged',
  kept: 'would keep',
};

function inWords({ path, did, remark }: FileOutcome, isDryRun: boolean): string {
  const verb = isDryRun ? WOULD[did] : did;
  return `${verb} ${path}${remark === undefined ? '' : `: ${remark}`}`;
}
