import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Ended, runToEnd } from './output.ts';

/** A Debian of its own below a folder: some packages of this machine, their files linked, `/etc` and `/var` its own. */
export interface DebianRoot {
  readonly path: string;
  /** What `apt-get install` would do: adds packages of this machine with all they depend on. */
  add(...packages: string[]): void;
  /** The words that run a command in it, as root of it: with its own `/proc`, and the network of this machine. */
  command(...words: string[]): string[];
  run(words: readonly string[], vars?: Readonly<Record<string, string>>): Promise<Ended>;
}

/** What every Debian has that systemd starts, and `adduser` as nearly all do. */
const GROUND = ['systemd', 'adduser'];

/** Why there can be none here; undefined if there can. */
export function whyNoDebianRoot(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs root';
  if (!Bun.which('dpkg-query') || !existsSync('/var/lib/dpkg/status')) return 'this machine is no Debian';
  if (!lstatSync('/bin').isSymbolicLink()) return '/bin is no link: this Debian is older than 12';
  const { exitCode } = Bun.spawnSync(['unshare', '-m', 'true'], { stderr: 'ignore' });
  return exitCode === 0 ? undefined : 'there may be no mount namespaces here';
}

/** Makes one in an empty folder, of this machine's packages. It holds what a minimal installation has. */
export function makeDebianRoot(path: string): DebianRoot {
  const installed = readInstalled();
  const essential = [...installed.values()].filter(({ isEssential }) => isEssential).map(({ name }) => name);
  const present = new Set<string>();
  for (const folder of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(path, 'usr', folder), { recursive: true });
    symlinkSync(`usr/${folder}`, join(path, folder));
  }
  for (const folder of ['dev', 'proc', 'tmp', 'run', 'root', 'etc', 'var/lib/dpkg/info', 'var/lib/dpkg/updates'])
    mkdirSync(join(path, folder), { recursive: true });
  const add = (...packages: string[]) => {
    const wanted = closureOf(packages, installed).filter((name) => !present.has(name));
    for (const name of wanted) {
      present.add(name);
      putFiles(path, name);
      appendFileSync(join(path, 'var/lib/dpkg/status'), `${installed.get(name)?.status}\n\n`);
    }
  };
  add(...essential, ...GROUND);
  writeUsers(path);
  const command = (...words: string[]) => ['unshare', '-m', 'sh', '-c', ENTER, 'sh', path, ...words];
  return {
    path,
    add,
    command,
    run: (words, vars = {}) => runToEnd(command(...words), { env: { PATH, ...vars } }),
  };
}

/** The path of a shell in it. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin';

/** Each step becomes the next one, so a signal reaches the last. */
const ENTER = 'mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && exec chroot "$@"';

interface Installed {
  readonly name: string;
  readonly isEssential: boolean;
  readonly provides: readonly string[];
  readonly needs: readonly string[];
  /** Its part of dpkg's list. */
  readonly status: string;
}

function readInstalled(): ReadonlyMap<string, Installed> {
  const all = readFileSync('/var/lib/dpkg/status', 'utf8').split('\n\n');
  const parts = all.filter((text) => /^Status: install ok installed$/m.test(text));
  const found = parts.map((status) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(status)?.[1] ?? '';
    const names = (text: string) => text.split(/[,|]/).map((one) => one.trim().replace(/[ (:].*$/, ''));
    const needs = [...names(field('Pre-Depends')), ...names(field('Depends'))].filter((name) => name !== '');
    const isEssential = field('Essential') === 'yes';
    return { name: field('Package'), isEssential, provides: names(field('Provides')), needs, status };
  });
  return new Map(found.map((one) => [one.name, one]));
}

/** The packages and all they need, as far as they are installed here. */
function closureOf(packages: readonly string[], installed: ReadonlyMap<string, Installed>): string[] {
  const found = new Set<string>();
  const queue = [...packages];
  for (const name of queue) {
    const own = installed.get(name) ?? [...installed.values()].find(({ provides }) => provides.includes(name));
    if (!own || found.has(own.name)) continue;
    found.add(own.name);
    queue.push(...own.needs);
  }
  return [...found];
}

/** Papers and languages, which no program needs. */
const LEFT_OUT = /^\/usr\/share\/(?:doc|man|locale|info|i18n|lintian|bug)\//;

function putFiles(root: string, name: string): void {
  const lists = [`/var/lib/dpkg/info/${name}.list`, `/var/lib/dpkg/info/${name}:${DEBIAN_ARCH}.list`];
  const list = lists.find(existsSync);
  if (list === undefined) return;
  copyFileSync(list, join(root, list));
  for (const listed of readFileSync(list, 'utf8').split('\n')) {
    const from = listed.replace(/^\/(bin|sbin|lib|lib64)(?=\/)/, '/usr/$1');
    if (from === '' || from === '/.' || LEFT_OUT.test(from)) continue;
    putFile(root, from);
  }
}

const DEBIAN_ARCH = process.arch === 'x64' ? 'amd64' : process.arch;

function putFile(root: string, from: string): void {
  const to = join(root, from);
  const stat = lstatSync(from, { throwIfNoEntry: false });
  if (!stat || lstatSync(to, { throwIfNoEntry: false })) return;
  mkdirSync(dirname(to), { recursive: true });
  if (stat.isDirectory()) mkdirSync(to, { recursive: true, mode: stat.mode & 0o7777 });
  else if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  // What may be written to is its own; the rest is this machine's.
  else if (stat.isFile() && from.startsWith('/usr/')) linkOrCopy(from, to);
  else if (stat.isFile()) copyFileSync(from, to);
}

/** A link to the file, or a copy where it is on another file system. */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** What the maintainer scripts of the ground make. */
function writeUsers(root: string): void {
  for (const name of ['passwd', 'group'])
    copyFileSync(join(root, `usr/share/base-passwd/${name}.master`), join(root, 'etc', name));
  for (const name of ['shadow', 'gshadow']) writeFileSync(join(root, 'etc', name), '', { mode: 0o600 });
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n');
  cpSync('/etc/ld.so.cache', join(root, 'etc/ld.so.cache'));
  for (const name of ['common-account', 'common-auth', 'common-session', 'common-password']) {
    if (existsSync(`/etc/pam.d/${name}`)) cpSync(`/etc/pam.d/${name}`, join(root, 'etc/pam.d', name));
  }
  for (const [name, to] of [
    ['awk', '/usr/bin/mawk'],
    ['which', '/usr/bin/which.debianutils'],
  ] as const) {
    mkdirSync(join(root, 'etc/alternatives'), { recursive: true });
    if (!existsSync(join(root, 'etc/alternatives', name))) symlinkSync(to, join(root, 'etc/alternatives', name));
    if (!lstatSync(join(root, 'usr/bin', name), { throwIfNoEntry: false }))
      symlinkSync(`/etc/alternatives/${name}`, join(root, 'usr/bin', name));
  }
}
