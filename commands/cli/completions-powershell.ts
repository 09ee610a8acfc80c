import type { Commands } from './command.ts';
import { everyFlag, firstWords, isListed, ownFlags, secondWords, settingFlags } from './completed-flags.ts';

/** A native argument completer (Register-ArgumentCompleter). Where it offers no words, PowerShell completes files. */
export function powershellScript(commands: Commands): string {
  const values = everyFlag(commands).filter(isListed);
  return `# PowerShell completion of vault: vault completions powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName vault, vault.exe -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $settings = @(${words(settingFlags().map(({ flag }) => flag))})
  $flags = @{
${Object.entries(commands)
  .map(([name, command]) => {
    const own = `@(${words(ownFlags(command).map(({ flag }) => flag))})`;
    return `    ${quoted(name)} = ${own}${command.usesSettings ? ' + $settings' : ''}`;
  })
  .join('\n')}
  }
  $values = @{
${values.map(({ flag, value }) => `    ${quoted(flag)} = @(${words(value)})`).join('\n')}
  }
  $seconds = @{
${secondWords(commands)
  .map(([first, second]) => `    ${quoted(first)} = @(${words(second)})`)
  .join('\n')}
  }
  $before = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  $previous = $before[-1]
  $first = if ($before.Count -gt 1) { $before[1] } else { '' }
  $both = if ($before.Count -gt 2) { "$first $($before[2])" } else { '' }
  $found = @()
  if ($wordToComplete -match '^(--[a-z0-9-]+)=' -and $values.ContainsKey($Matches[1])) {
    $flag = $Matches[1]
    $found = $values[$flag] | ForEach-Object { "$flag=$_" }
  } elseif ($values.ContainsKey($previous)) {
    $found = $values[$previous]
  } elseif ($wordToComplete.StartsWith('-')) {
    if ($flags.ContainsKey($both)) { $found = $flags[$both] }
    elseif ($flags.ContainsKey($first)) { $found = $flags[$first] }
    else { $found = $flags['serve'] }
  } elseif ($before.Count -eq 1) {
    $found = @(${words(firstWords(commands))})
  } elseif ($before.Count -eq 2 -and $seconds.ContainsKey($first)) {
    $found = $seconds[$first]
  }
  $found | Where-Object { $_.StartsWith($wordToComplete) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`;
}

function words(all: readonly string[]): string {
  return all.map(quoted).join(', ');
}

/** Nothing is expanded within single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
