// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The aliases of a registry: hashes of names, each of which leads to one DID
/// @notice A name is hidden until it is taken by a commitment, which hides it in a hash. A claim with an older commitment
/// takes an alias from its holder for 10 minutes. So who copies a claim that waits to be mined gains nothing: the copy's
/// commitment is younger.
///
/// An alias is its controller's: that of the DID it leads to, active or not. It can be led to the controller's next DID
/// and be freed. An alias that was freed, or whose DID was deactivated, is for 30 days its last controller's only.
abstract contract AliasBook {
    /// @dev All but the DID is in one slot; times are seconds since the Unix epoch.
    struct Alias {
        bytes32 didHash;
        /// @dev Of a freed alias: who freed it.
        address reservedFor;
        /// @dev When it was taken, or freed.
        uint40 since;
        /// @dev When the claim began: at its commitment, else when the alias was taken.
        uint40 claimed;
        /// @dev Whether the DID's holder was the rightful one then. If it has become so later, the alias leads nowhere.
        bool rightful;
    }

    uint256 public constant ALIAS_COOLDOWN = 30 days;
    uint256 public constant ALIAS_SETTLES = 10 minutes;
    uint256 public constant COMMITMENT_LIFE = 1 hours;

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

    /// @notice Begins the claim of an alias without naming it. Anyone, for anyone: the claimer is in the commitment.
    /// @param commitment keccak256(abi.encode(aliasHash, controller, salt)); good for an hour. A live one stays as it is, so
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
        bytes32 commitment = keccak256(abi.encode(aliasHash, msg.sender, salt));
        uint256 made = commitments[commitment];
        delete commitments[commitment];
        bool isLive = made != 0 && block.timestamp <= made + COMMITMENT_LIFE;
        _takeAlias(aliasHash, _ownDid(msg.sender), msg.sender, isLive ? made : block.timestamp);
    }

    /// @notice Leads an alias to its controller's present DID. Its controller only.
    function pointAlias(bytes32 aliasHash) external {
        Alias storage held = _controlledAlias(aliasHash);
        _point(held, aliasHash, _ownDid(msg.sender));
    }

    /// @notice Gives an alias up. For 30 days only the caller can take it again. Its controller only, and not in the first
    /// 10 minutes, in which an older claim may still take it.
    function freeAlias(bytes32 aliasHash) external {
        Alias storage held = _controlledAlias(aliasHash);
        if (block.timestamp < held.since + ALIAS_SETTLES) revert AliasNotSettled(aliasHash);
        _aliases[aliasHash] = Alias(0, msg.sender, uint40(block.timestamp), 0, false);
        emit AliasFreed(aliasHash);
    }

    /// @notice The DID hash an alias leads to, active or not; zero when it leads to none.
    function aliases(bytes32 aliasHash) public view returns (bytes32 didHash) {
        Alias storage held = _aliases[aliasHash];
        didHash = held.didHash;
        (, bool rightful,,) = _holder(didHash);
        if (rightful != held.rightful) return 0;
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
        Alias storage held = _aliases[aliasHash];
        bytes32 led = aliases(aliasHash);
        uint256 since = block.timestamp;
        if (led != 0) {
            (address holder,, bool active, uint256 updated) = _holder(led);
            // Its own, of a DID that it has deactivated.
            if (holder == controller && led != didHash) return _point(held, aliasHash, didHash);
            if (active || block.timestamp < updated + ALIAS_COOLDOWN) {
                since = held.since;
                if (block.timestamp >= since + ALIAS_SETTLES || claimed >= held.claimed) revert AliasTaken(aliasHash);
            }
        } else if (held.reservedFor == controller) {
            // Its own again: settled, so that no commitment that waited for this takes it.
            (since, claimed) = (block.timestamp - ALIAS_SETTLES, 0);
        } else if (held.reservedFor != address(0) && block.timestamp < held.since + ALIAS_COOLDOWN) {
            revert AliasTaken(aliasHash);
        }
        if (led == 0 && !_isFreeInLegacy(aliasHash, controller)) revert AliasTaken(aliasHash);
        (held.reservedFor, held.since, held.claimed) = (address(0), uint40(since), uint40(claimed));
        _point(held, aliasHash, didHash);
    }

    function _point(Alias storage held, bytes32 aliasHash, bytes32 didHash) private {
        (, held.rightful,,) = _holder(didHash);
        held.didHash = didHash;
        emit AliasRegistered(aliasHash, didHash);
    }

    function _controlledAlias(bytes32 aliasHash) private view returns (Alias storage held) {
        (address controller,,,) = _holder(aliases(aliasHash));
        if (controller != msg.sender) revert NotAliasController(aliasHash, msg.sender);
        return _aliases[aliasHash];
    }

    /// @dev Whether no one else has the alias in the registry before this one.
    function _isFreeInLegacy(bytes32 aliasHash, address controller) internal view virtual returns (bool);

    /// @dev The controller's active DID; reverts when there is none.
    function _ownDid(address controller) internal view virtual returns (bytes32 didHash);

    /// @dev Who holds a DID, whether rightfully, whether it is active, and when that changed last; zeros of no DID.
    function _holder(bytes32 didHash)
        internal
        view
        virtual
        returns (address controller, bool rightful, bool active, uint256 updated);
}
