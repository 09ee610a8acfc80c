// The operator's console: signs in, polls the overview, shows the stream, and runs the operator's forms.
import { explain } from './answer.ts';
import { createApi } from './api.ts';
import { createApps } from './apps.ts';
import { createCharts } from './charts.ts';
import { createDoctor } from './doctor.ts';
import { byId, make, say } from './dom.ts';
import { createFeed } from './feed.ts';
import { formatTime } from './format.ts';
import { createFreshness } from './freshness.ts';
import { readHealth, showHealth } from './health.ts';
import { createInvites } from './invites.ts';
import { bindKeys } from './keys.ts';
import { EVENTS_BEFORE_MAX, OVERVIEW_POLL_MS, SLEPT_MS_MIN } from './limits.ts';
import { createLimits } from './limits-panel.ts';
import { createDrawer } from './lists/drawer.ts';
import { createRegistrations } from './lists/registrations.ts';
import { createSessions } from './lists/sessions.ts';
import { createLive } from './live.ts';
import { createMessages } from './messages.ts';
import { createOperators } from './operators.ts';
import type { Overview } from './overview.ts';
import { createRecoveries } from './recoveries.ts';
import { setRole } from './role.ts';
import { createSession } from './session.ts';
import { createRefusals, createSettings } from './settings.ts';
import { createShell, type Shell } from './shell.ts';
import { createStatus } from './status.ts';
import { createTheme } from './theme.ts';
import { createTokens } from './tokens.ts';
import { createViews } from './views.ts';
import { createWebhooks } from './webhooks.ts';

const session = createSession(storageOf('sessionStorage'));
const api = createApi(session.secret, () => signOut('The vault no longer accepts the secret. Sign in again.'));
const feed = createFeed();
const charts = createCharts(api);
const drawer = createDrawer();
const panels = {
  registrations: createRegistrations(api, drawer, (text) => shell.say('registrations', text)),
  sessions: createSessions(api, drawer, (text) => shell.say('sessions', text)),
  invites: createInvites(api),
  apps: createApps(api),
  refusals: createRefusals(api),
  settings: createSettings(api),
  limits: createLimits(api),
  recoveries: createRecoveries(api),
  webhooks: createWebhooks(api),
  messages: createMessages(api),
  tokens: createTokens(api),
  operators: createOperators(api),
  doctor: createDoctor(api),
};
const lists = [panels.registrations, panels.sessions];
const shell: Shell = createShell(createViews({ ...panels, charts }));
const showStatus = createStatus(() => begin(live.state().lastId));
const nextTheme = createTheme(byId('theme'), storageOf('localStorage'));
const freshness = createFreshness(() => void poll());
const app = byId('app', HTMLSelectElement);

/** How far the vault's clock is ahead of the browser's: tokens expire by the vault's. */
let aheadMs = 0;
let latest: Overview | undefined;
let role = '';
let readings = 0;
let polledAt = Number.POSITIVE_INFINITY;
let timer: ReturnType<typeof setTimeout> | undefined;

const live = createLive(api, () => Date.now() + aheadMs, {
  onEvent: feed.add,
  onLost(from, to) {
    // Ids only grow: a vault whose newest id is below one shown has another database, perhaps a restored one.
    if (to < from) feed.clear();
    say(byId('lost'), to < from ? 'The vault now uses another database. The list starts again.' : LOST);
  },
  onState(state) {
    showStatus(state);
    freshness.stream(state.phase);
  },
  onToken: panels.tokens.setToken,
});

const LOST = 'The vault no longer keeps some of these events. The list has a gap.';

/** Reads the overview; throws when it is refused or does not come. */
async function readOverview(): Promise<Overview> {
  const overview = (await api.get('overview')) as Overview;
  aheadMs = Date.parse(overview.at) - Date.now();
  latest = overview;
  freshness.read(true);
  showHealth(overview);
  shell.mark('health', readHealth(overview).filter(({ state }) => state === 'bad').length, 'failing');
  shell.mark('doctor', overview.doctor?.failures ?? 0, 'failing');
  shell.say('overview', `Read at ${formatTime(overview.at)}`);
  shell.say('health', `Your address as this vault sees it: ${overview.client}`);
  return overview;
}

/** Most views read their own with every third reading. */
const VIEW_EVERY = 3;

/** A viewer gets no token for the list of operators' actions. */
function channelsFor({ events: { channels } }: Overview): readonly string[] | undefined {
  return role === 'viewer' ? channels.filter((channel) => channel !== 'audit') : undefined;
}

async function signIn(): Promise<void> {
  const who = (await api.get('operator')) as { readonly name: string; readonly role: string };
  role = who.role;
  setRole(role);
  byId('sign-out').title = `Signed in as ${who.name}, ${who.role}`;
  const overview = await readOverview();
  document.documentElement.dataset['view'] = 'console';
  app.replaceChildren(
    make('option', { value: '*' }, 'All apps'),
    ...overview.apps.map((name) => make('option', { value: name }, name)),
  );
  const isOne = overview.apps.length < 2;
  byId('app-field').hidden = isOne;
  document.documentElement.dataset['apps'] = isOne ? 'one' : 'several';
  for (const list of lists) list.setApps(overview.apps);
  feed.setChannels(channelsFor(overview) ?? overview.events.channels);
  begin(firstId(overview));
  polledAt = Date.now();
  shell.start();
  clearTimeout(timer);
  timer = setTimeout(poll, OVERVIEW_POLL_MS);
  if (isUnexamined(overview)) void api.get('doctor').catch(() => undefined);
}

/** The doctor's checks run while somebody looks at the console, and stay good for an hour. */
function isUnexamined({ at, doctor }: Overview): boolean {
  return doctor === null || Date.parse(at) - Date.parse(doctor.checked_at) > 3_600_000;
}

/** Never before what is kept: nothing is missing from a list that has not begun. */
function firstId({ events: { first_id, last_id } }: Overview): number {
  return Math.max(0, first_id - 1, last_id - EVENTS_BEFORE_MAX);
}

function begin(lastId: number): void {
  const overview = latest;
  if (overview?.live)
    live.start({ app: app.value, channels: channelsFor(overview), types: overview.events.types, lastId });
  else showStatus({ phase: 'off', lastId: 0 });
}

async function poll(): Promise<void> {
  // A connection that died in a sleep is silent, as one without events is.
  if (Date.now() - polledAt > SLEPT_MS_MIN) live.renew();
  polledAt = Date.now();
  try {
    await readOverview();
    say(byId('trouble'), '');
    shell.refresh(++readings % VIEW_EVERY === 0);
  } catch (error) {
    const isIn = session.secret() !== '';
    if (isIn) freshness.read(false);
    say(byId('trouble'), isIn ? explain(error) : '');
  }
  clearTimeout(timer);
  if (session.secret() !== '') timer = setTimeout(poll, OVERVIEW_POLL_MS);
}

function signOut(reason = ''): void {
  clearTimeout(timer);
  session.signOut();
  live.stop();
  shell.stop();
  drawer.close();
  for (const list of lists) list.clear();
  feed.clear();
  charts.clear();
  latest = undefined;
  freshness.stop();
  panels.tokens.setToken(null);
  for (const answer of document.querySelectorAll('output')) answer.replaceChildren();
  document.documentElement.dataset['view'] = 'sign-in';
  say(byId('sign-in-failure'), reason);
  byId('secret', HTMLInputElement).value = '';
  byId('secret').focus();
}

/** A browser may forbid a page to keep anything. */
function storageOf(name: 'sessionStorage' | 'localStorage'): Storage | undefined {
  try {
    return window[name];
  } catch {
    return undefined;
  }
}

byId('sign-in', HTMLFormElement).addEventListener('submit', async (event) => {
  event.preventDefault();
  const secret = byId('secret', HTMLInputElement);
  session.signIn(secret.value.trim(), byId('keep', HTMLInputElement).checked);
  say(byId('sign-in-failure'), '');
  await signIn().then(
    () => {
      secret.value = '';
    },
    (error) => signOut(explain(error)),
  );
});
byId('sign-out').addEventListener('click', () => signOut());
app.addEventListener('change', () => {
  const overview = latest;
  feed.clear();
  if (overview) begin(firstId(overview));
});
addEventListener('online', () => live.wake());
document.addEventListener('visibilitychange', () => live.wake());

/** Opens a view, then goes to a field of it. */
function goTo(view: string, id: string): void {
  if (document.documentElement.dataset['view'] !== 'console') return;
  shell.go(view);
  byId(id).focus();
}

const help = byId('help', HTMLDialogElement);
byId('help-open').addEventListener('click', () => help.showModal());
byId('help-close').addEventListener('click', () => help.close());
const keys = bindKeys(
  {
    '/': () => goTo('events', 'filter'),
    p: feed.togglePause,
    l: () => goTo('registrations', 'registrations-value'),
    t: nextTheme,
    '?': () => help.showModal(),
  },
  storageOf('localStorage'),
);
const keysOn = byId('keys-on', HTMLInputElement);
keysOn.checked = keys.isOn();
keysOn.addEventListener('change', () => keys.set(keysOn.checked));

if (session.secret() === '') byId('secret').focus();
else signIn().catch((error) => signOut(explain(error)));
