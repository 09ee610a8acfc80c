// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The aliases of a registry: hashes of names, each of which leads to one DID
/// @notice A name is hidden until it is taken by a commitment, which hides it in a hash. A claim with an older commitment
/// takes an alias from its holder for 10 minutes. So who copies a claim that waits to be mined gains nothing: the copy's
/// commitment is younger.
///
/// An alias is its controller's: that of the DID it leads to. It can be led to the controller's next DID and be freed. An
/// alias that was freed, or whose DID was deactivated, is for 30 days its last controller's only, then anybody's; an alias
/// that is freed after its DID has ended keeps the clock of that end.
abstract contract AliasBook {
    /// @dev All but the DID is in one slot; times are seconds since the Unix epoch.
    struct Alias {
        bytes32 didHash;
        /// @dev Of a freed alias: who freed it.
        address reservedFor;
        /// @dev When it was taken, or freed; of a freed one whose DID had ended, when that was.
        uint40 since;
        /// @dev When the claim began: at its commitment, else when the alias was taken.
        uint40 claimed;
        /// @dev How the DID was held then. If another has taken it since, the alias leads nowhere.
        uint8 holding;
    }

    uint256 public constant ALIAS_COOLDOWN = 30 days;
    uint256 public constant ALIAS_SETTLES = 10 minutes;
    uint256 public constant COMMITMENT_LIFE = 1 hours;
    /// @dev How a did:pkh is held by, or from, the address it names: for good.
    uint8 internal constant RIGHTFUL = type(uint8).max;

    /// @notice When a commitment was made; zero when it was not, or is spent.
    mapping(bytes32 commitment => uint256 time) public commitments;
    mapping(bytes32 aliasHash => Alias) private _aliases;

    event AliasRegistered(bytes32 indexed aliasHash, bytes32 indexed didHash);
    event AliasFreed(bytes32 indexed aliasHash);
    event AliasCommitted(bytes32 indexed commitment);

    error InvalidAlias();
    error AliasTaken(bytes32 aliasHash);
    error AliasNotSettled(bytes32 aliasHash);
    error NotAliasController(bytes32 aliasHash, address caller);

    /// @notice Begins the claim of an alias, or of a DID, without naming it. Anyone, for anyone: the claimer is in the
    /// commitment.
    /// @param commitment keccak256(abi.encode(hash, controller, salt)); good for an hour. A live one stays as it is, so
    /// that nobody makes another's younger by repeating it.
    function commitAlias(bytes32 commitment) external {
        uint256 made = commitments[commitment];
        if (made != 0 && block.timestamp <= made + COMMITMENT_LIFE) return;
        commitments[commitment] = block.timestamp;
        emit AliasCommitted(commitment);
    }

    /// @notice Takes an alias for the caller's active DID: a free one, or one that was taken less than 10 minutes ago by a
    /// claim that began after the caller's commitment.
    /// @param salt that of the commitment; anything where there is none
    function claimAlias(bytes32 aliasHash, bytes32 salt) external {
        if (aliasHash == 0) revert InvalidAlias();
        _takeAlias(aliasHash, _ownDid(msg.sender), msg.sender, _spend(aliasHash, msg.sender, salt));
    }

    /// @notice Leads an alias to its controller's present DID. Its controller only.
    function pointAlias(bytes32 aliasHash) external {
        (Alias storage held, bool active, uint256 updated) = _controlledAlias(aliasHash);
        bytes32 didHash = _ownDid(msg.sender);
        if (!active && block.timestamp >= updated + ALIAS_COOLDOWN) {
            return _takeAlias(aliasHash, didHash, msg.sender, block.timestamp);
        }
        _point(held, aliasHash, didHash);
    }

    /// @notice Gives an alias up. For 30 days, from the end of its DID if that has ended, only the caller can take it again.
    /// Its controller only, and not in the first 10 minutes, in which an older claim may still take it.
    function freeAlias(bytes32 aliasHash) external {
        (Alias storage held, bool active, uint256 updated) = _controlledAlias(aliasHash);
        if (block.timestamp < held.since + ALIAS_SETTLES) revert AliasNotSettled(aliasHash);
        _aliases[aliasHash] = Alias(0, msg.sender, uint40(active ? block.timestamp : updated), 0, 0);
        emit AliasFreed(aliasHash);
    }

    /// @notice The DID hash an alias leads to, active or not; zero when it leads to none.
    function aliases(bytes32 aliasHash) public view returns (bytes32 didHash) {
        Alias storage held = _aliases[aliasHash];
        didHash = held.didHash;
        (, uint8 holding,,) = _holder(didHash);
        if (holding != held.holding) return 0;
    }

    /// @notice Whose an alias is besides the DID it leads to.
    /// @return didHash as `aliases` answers it
    /// @return settledAt until when an older claim may take it; zero when it leads to no DID
    /// @return reservedFor who alone can take it before `reservedUntil`; zero when that is nobody
    function aliasStatus(bytes32 aliasHash)
        external
        view
        returns (bytes32 didHash, uint256 settledAt, address reservedFor, uint256 reservedUntil)
    {
        Alias storage held = _aliases[aliasHash];
        didHash = aliases(aliasHash);
        if (didHash == 0) {
            reservedFor = held.reservedFor;
            return (0, 0, reservedFor, reservedFor == address(0) ? 0 : held.since + ALIAS_COOLDOWN);
        }
        (address controller,, bool active, uint256 updated) = _holder(didHash);
        return (didHash, held.since + ALIAS_SETTLES, controller, active ? type(uint256).max : updated + ALIAS_COOLDOWN);
    }

    /// @dev Takes an alias for a controller's DID, or reverts. `claimed` is when the claim began.
    function _takeAlias(bytes32 aliasHash, bytes32 didHash, address controller, uint256 claimed) internal {
        _checkOpen();
        Alias storage held = _aliases[aliasHash];
        bytes32 led = aliases(aliasHash);
        uint256 since = block.timestamp;
        if (led != 0) {
            (address holder,, bool active, uint256 updated) = _holder(led);
            if (active || block.timestamp < updated + ALIAS_COOLDOWN) {
                // Its own, of a DID that it has deactivated.
                if (holder == controller && led != didHash) return _point(held, aliasHash, didHash);
                since = held.since;
                if (block.timestamp >= since + ALIAS_SETTLES || claimed >= held.claimed) revert AliasTaken(aliasHash);
            }
        } else if (held.reservedFor != address(0) && block.timestamp < held.since + ALIAS_COOLDOWN) {
            if (held.reservedFor != controller) revert AliasTaken(aliasHash);
            // Its own again: settled, so that no commitment that waited for this takes it.
            (since, claimed) = (block.timestamp - ALIAS_SETTLES, 0);
        }
        // Of an alias that is held too: an older claim takes it from nobody who brought it from the first registry.
        if (!_isFreeInLegacy(aliasHash, controller)) revert AliasTaken(aliasHash);
        (held.reservedFor, held.since, held.claimed) = (address(0), uint40(since), uint40(claimed));
        _point(held, aliasHash, didHash);
    }

    function _point(Alias storage held, bytes32 aliasHash, bytes32 didHash) private {
        (, held.holding,,) = _holder(didHash);
        held.didHash = didHash;
        emit AliasRegistered(aliasHash, didHash);
    }

    /// @dev When the claim of a hash began: at its commitment, which is spent, or now.
    function _spend(bytes32 hash, address controller, bytes32 salt) internal returns (uint256 claimed) {
        bytes32 commitment = keccak256(abi.encode(hash, controller, salt));
        uint256 made = commitments[commitment];
        if (made == 0) return block.timestamp;
        delete commitments[commitment];
        return block.timestamp <= made + COMMITMENT_LIFE ? made : block.timestamp;
    }

    /// @dev An alias of the caller, whether its DID is active, and when that changed last.
    function _controlledAlias(bytes32 aliasHash) private view returns (Alias storage held, bool active, uint256 updated) {
        address controller;
        (controller,, active, updated) = _holder(aliases(aliasHash));
        if (controller != msg.sender) revert NotAliasController(aliasHash, msg.sender);
        held = _aliases[aliasHash];
    }

    /// @dev Reverts while names are not given out yet.
    function _checkOpen() internal view virtual;

    /// @dev Whether no one else has the alias in the registry before this one.
    function _isFreeInLegacy(bytes32 aliasHash, address controller) internal view virtual returns (bool);

    /// @dev The controller's active DID; reverts when there is none.
    function _ownDid(address controller) internal view virtual returns (bytes32 didHash);

    /// @dev Who holds a DID and how, whether it is active, and when that changed last; zeros of no DID.
    function _holder(bytes32 didHash)
        internal
        view
        virtual
        returns (address controller, uint8 holding, bool active, uint256 updated);
}
