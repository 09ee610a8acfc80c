import { byId, make, say } from './dom.ts';
import { createRing, type Ring, readEvent } from './events.ts';
import { formatCount } from './format.ts';
import { EVENTS_KEPT_MAX } from './limits.ts';
import { createRows } from './rows.ts';

/** The list of events: newest first, filtered by channel and words; it can be paused. */
export interface Feed {
  add(data: string): void;
  clear(): void;
  /** Shows a switch for each channel. A channel that is switched off stays off. */
  setChannels(channels: readonly string[]): void;
  togglePause(): void;
}

/** Creates the feed on the elements of the page. */
export function createFeed(): Feed {
  const ring = createRing(EVENTS_KEPT_MAX);
  const showRows = createRows(byId('events'));
  const hidden = new Set<string>();
  const pause = byId('pause');
  const search = byId('filter', HTMLInputElement);
  let seenWhenPaused: number | undefined;
  let isDue = false;

  const render = (): void => {
    isDue = false;
    sayCounts(ring, seenWhenPaused);
    if (seenWhenPaused !== undefined) return;
    const events = ring.matching({ hidden, text: search.value });
    showRows(events);
    byId('events-empty').hidden = events.length > 0;
    say(byId('events-empty'), ring.counts().kept > 0 ? 'No event matches the filters.' : EMPTY);
  };
  /** A burst is drawn once a frame. */
  const schedule = (): void => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(render);
  };
  const togglePause = (): void => {
    seenWhenPaused = seenWhenPaused === undefined ? ring.counts().seen : undefined;
    pause.setAttribute('aria-pressed', String(seenWhenPaused !== undefined));
    say(pause, seenWhenPaused === undefined ? 'Pause' : 'Resume');
    schedule();
  };
  const clear = (): void => {
    ring.clear();
    showRows([]);
    if (seenWhenPaused !== undefined) seenWhenPaused = 0;
    schedule();
  };
  const toggle = (channel: string, isShown: boolean): void => {
    if (isShown) hidden.delete(channel);
    else hidden.add(channel);
    schedule();
  };

  search.addEventListener('input', schedule);
  pause.addEventListener('click', togglePause);
  byId('clear').addEventListener('click', clear);
  schedule();
  return {
    add(data) {
      const event = readEvent(data);
      if (!event) return;
      ring.push(event);
      schedule();
    },
    clear,
    setChannels: (channels) => offer(channels, hidden, toggle),
    togglePause,
  };
}

const EMPTY = 'No events yet. Send a code or open a session: its event appears here at once.';

function sayCounts(ring: Ring, seenWhenPaused: number | undefined): void {
  const { kept, seen, byChannel } = ring.counts();
  const limit = seen > kept ? `, the newest ${formatCount(kept)} kept` : '';
  const waiting = seenWhenPaused === undefined ? '' : `, ${formatCount(seen - seenWhenPaused)} since the pause`;
  say(byId('state-events'), `${formatCount(seen)} received${limit}${waiting}`);
  for (const label of byId('channels').querySelectorAll<HTMLElement>('label'))
    say(label.lastElementChild ?? label, formatCount(byChannel.get(label.dataset['channel'] ?? '') ?? 0));
}

function offer(
  channels: readonly string[],
  hidden: ReadonlySet<string>,
  toggle: (channel: string, isShown: boolean) => void,
): void {
  const group = byId('channels');
  const offered = [...group.querySelectorAll('label')].map((label) => label.dataset['channel']);
  if (offered.join() === channels.join()) return;
  group.replaceChildren(
    ...channels.map((channel) => {
      const box = make('input', { type: 'checkbox' });
      box.checked = !hidden.has(channel);
      box.addEventListener('change', () => toggle(channel, box.checked));
      return make('label', { 'data-channel': channel }, box, ` ${channel} `, make('span', { class: 'count' }, '0'));
    }),
  );
}
